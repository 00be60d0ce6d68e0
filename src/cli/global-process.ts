/**
 * Stands in for `node:process` in the bundle. The real module opens all three standard streams to have them ready for
 * import, which costs a tenth of a start; the global names the same object.
 */

const { process } = globalThis;

// biome-ignore lint/style/noDefaultExport: it stands in for a module that has one.
export default process;
