import './auto.node.js';

export * from './sync.js';
