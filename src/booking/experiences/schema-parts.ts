import * as Type from 'typebox'

/** Nested objects keep the members that an application adds, and responses return them. */
export const kept = { additionalProperties: true } as const

export const zone = (description: string) => Type.String({ maxLength: 64, description, examples: ['Europe/Berlin'] })
