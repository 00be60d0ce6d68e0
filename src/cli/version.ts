/** Who this is; a test holds the version to package.json. */
export const TOOL = { name: 'felix-fsck', version: '0.1.0' } as const;
