import { createHash } from 'node:crypto'
import type { Connection } from './link.ts'

/** A Lua script, which Redis runs atomically. Its text is sent only when the server has not cached it. */
export function luaScript(lua: string) {
  const digest = createHash('sha1').update(lua).digest('hex')
  return async (connection: Connection, keys: readonly string[], args: readonly (string | number)[]) => {
    try {
      return await connection.evalsha(digest, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return await connection.eval(lua, keys.length, ...keys, ...args)
    }
  }
}
