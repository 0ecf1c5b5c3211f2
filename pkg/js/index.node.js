import './auto.node.js';

export * from './index.js';
