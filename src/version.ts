import manifest from '../package.json' with { type: 'json' }

/** Of this build; the bundler puts the text in. */
export const VERSION: string = manifest.version
