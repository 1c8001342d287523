/** Increase it when messages can be read that earlier versions could not: those are read once more. */
export const READER_VERSION = 1
