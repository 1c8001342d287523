import type { Json } from './components.ts'

/** A request that works, and its response. */
export interface OperationExample {
  request?: { path?: Record<string, string>; query?: Record<string, string>; body?: Json }
  response?: { status: number; body: Json }
}

/** By method and path, as `GET /accounts/{accountId}`. */
export type Examples = Readonly<Record<string, OperationExample>>
