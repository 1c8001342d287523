import type { Static } from 'typebox'
import * as Type from 'typebox'

const MAX_NAMES = 100

export const namesQuery = Type.Object({
  ids: Type.String({ maxLength: MAX_NAMES * 65, description: `Up to ${MAX_NAMES} account ids, separated by commas.` }),
})

/** The addresses of accounts by id. Deleted accounts are missing. */
export const namesSchema = Type.Object({ names: Type.Record(Type.String(), Type.String()) })
export type AccountNames = Static<typeof namesSchema>

export function parseIds(text: string): string[] {
  return [...new Set(text.split(',').filter(Boolean))].slice(0, MAX_NAMES)
}
