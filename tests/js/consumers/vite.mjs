// Vite's dev server, with the configuration beside it: `node vite.mjs vite8` prints its address, and ends with its input.
const { createServer } = await import(process.argv[2]);
const server = await createServer({ logLevel: 'warn', server: { host: '127.0.0.1' } });
await server.listen();
console.log(server.resolvedUrls.local[0]);
process.stdin.resume().on('end', () => process.exit());
