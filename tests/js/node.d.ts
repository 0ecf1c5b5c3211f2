// What the README's examples take of Node.
declare module 'node:fs' {
  export function readFileSync(path: string): Uint8Array<ArrayBuffer>;
  export function readFileSync(path: string, encoding: 'utf8'): string;
  export function writeFileSync(path: string, bytes: Uint8Array): void;
}
