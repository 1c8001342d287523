import type { HTTPMethods } from 'fastify'
import findMyWay from 'find-my-way'
import { lazy } from '../../../concurrency/lazy.ts'
import type { Access } from './access.ts'

/** The methods of each path, for 405 responses: Fastify itself responds 404 to an unsupported method. */
export interface Paths {
  add(method: HTTPMethods, url: string, access: Access): void
  /** The methods of the path and the access each requires. Empty when no route matches. */
  at(url: string): { method: Method; access: Access }[]
}

export type Method = (typeof METHODS)[number]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export function paths(maxParamLength: number): Paths {
  const routes: { method: Method; url: string; access: Access }[] = []
  // Made for the first unknown path: a second router takes some milliseconds of the start.
  const router = lazy(() => {
    const made = findMyWay({ maxParamLength })
    for (const { method, url, access } of routes) made.on(method, url, () => {}, access)
    return made
  })
  return {
    add(method, url, access) {
      const knownMethod = METHODS.find((candidate) => candidate === method)
      if (knownMethod !== undefined) routes.push({ method: knownMethod, url, access })
    },
    at(url) {
      return METHODS.flatMap((method) => {
        const found = router().find(method, url)
        return found === null ? [] : [{ method, access: found.store as Access }]
      })
    },
  }
}
