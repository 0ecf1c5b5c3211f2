// What publint and attw find in a tarball: `node published.mjs TARBALL`.
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const tarball = new Uint8Array(readFileSync(process.argv[2]));
const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer } });
for (const message of messages) console.log('publint:', formatMessage(message, pkg));
const { types, problems } = await checkPackage(createPackageFromTarballData(tarball));
console.log(`types: ${types.kind}`);
for (const { kind, entrypoint, resolutionKind } of problems) console.log('attw:', kind, entrypoint, resolutionKind);
