// Finds the program `prosescope`. It is not in this package but in one for each system, of which npm installs the one that fits
// (optionalDependencies in package.json).
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

// In a bundle for CommonJS, `import.meta` has no address.
const require = createRequire(import.meta.url || __filename);

const FILE = process.platform === 'win32' ? 'prosescope.exe' : 'prosescope';

/** What `require` finds; undefined where it is not installed. */
function found(find) {
  try {
    return find();
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The program that npm installed beside this package: its `path`, or a `message` and `hints` that say why there is none. */
export function installed() {
  const own = found(() => require('prosescope/package.json'));
  if (own === undefined) return { message: 'the package prosescope is not installed here', hints: ['install it: npm install prosescope'] };
  const { version, optionalDependencies } = own;
  const name = `@prosescope/cli-${process.platform}-${process.arch}`;
  const manifest = found(() => require.resolve(`${name}/package.json`));
  // A folder above may have another version.
  if (manifest !== undefined && require(manifest).version === version) return { path: join(dirname(manifest), 'bin', FILE) };
  if (name in optionalDependencies) {
    return {
      message: `the program for this system is not installed: the package ${name} is missing in version ${version}`,
      hints: [
        `install it: npm install ${name}@${version}`,
        'npm leaves it out with --omit=optional, and where node_modules or package-lock.json came from another system',
      ],
    };
  }
  const systems = Object.keys(optionalDependencies).map(name => name.replace('@prosescope/cli-', ''));
  return {
    message: `there is no program for ${process.platform}-${process.arch}: npm has it for ${systems.join(', ')}`,
    hints: [
      'build it with Rust and a C compiler: cargo install prosescope',
      'the JavaScript library in this package works on every system',
    ],
  };
}

/** The program on the PATH. Relative folders there are passed over, because they would start a file of the project. */
export function onPath() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return folders.map(folder => join(folder, FILE)).find(existsSync);
}
