import manifest from '../../package.json' with { type: 'json' }

/** The version of this build; the bundler inlines it. */
export const VERSION: string = manifest.version
