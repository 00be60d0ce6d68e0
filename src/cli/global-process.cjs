/**
 * Stands in for `node:process` in the bundle. The real module opens all three standard streams to have them ready for
 * import, which costs a tenth of a start; the global names the same object.
 */

module.exports = globalThis.process;
