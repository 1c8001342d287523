import type { HTTPMethods } from 'fastify'
import findMyWay from 'find-my-way'
import type { Access } from './access.ts'

/** Every route of the server by path, to say which methods a path knows: fastify itself answers 404 to a wrong one. */
export interface Paths {
  add(method: HTTPMethods, url: string, access: Access): void
  /** The methods of the path and what each demands; empty when no route has it. */
  at(url: string): { method: Method; access: Access }[]
}

export type Method = (typeof METHODS)[number]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export function paths(maxParamLength: number): Paths {
  const router = findMyWay({ maxParamLength })
  return {
    add(method, url, access) {
      const known = METHODS.find((one) => one === method)
      if (known !== undefined) router.on(known, url, () => {}, access)
    },
    at(url) {
      return METHODS.flatMap((method) => {
        const found = router.find(method, url)
        return found === null ? [] : [{ method, access: found.store as Access }]
      })
    },
  }
}
