import type { Db } from '../../infra/db/index.ts'
import type { Idempotency } from '../../infra/http/index.ts'

export function idempotency({ db }: { db: Db }): Idempotency {
  const written = new WeakSet<object>()
  return {
    writing(prepare) {
      const handler = async (...[request, reply]: Parameters<typeof prepare>) => {
        const commit = await prepare(request, reply)
        return db.transaction(commit)
      }
      written.add(handler)
      return handler
    },
    isWriting: (handler) => typeof handler === 'function' && written.has(handler),
  }
}
