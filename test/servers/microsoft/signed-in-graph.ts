import { onTestFinished } from 'vitest'
import { type Microsoft, startMicrosoft } from '../microsoft.ts'

export const BOB = 'bob@outlook.test'
export const BACK = 'http://app.test/callback'
export const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
export const IMMUTABLE = { prefer: 'IdType="ImmutableId"' }

interface Page {
  value: { id: string; subject?: string; '@removed'?: object; [name: string]: unknown }[]
  '@odata.nextLink'?: string
  '@odata.deltaLink'?: string
}

interface SignedInGraph {
  microsoft: Microsoft
  call(path: string, init?: RequestInit, token?: string): Promise<Response>
  page(path: string, headers?: Record<string, string>): Promise<Page>
  send(method: string, path: string, body?: object): Promise<Response>
  accessToken: string
  refreshToken: string
}

/** Starts the fake for one test, in which Bob has signed in. Paths begin below `/v1.0`. */
export async function startSignedInGraph(): Promise<SignedInGraph> {
  const microsoft = await startMicrosoft()
  onTestFinished(() => microsoft.close())
  microsoft.addUser(BOB, { tenant: TENANT })
  microsoft.allowRedirect(BACK)
  const { accessToken, refreshToken } = await microsoft.grant(BOB)
  const call = (path: string, init: RequestInit = {}, token = accessToken) =>
    fetch(path.startsWith('http') ? path : `${microsoft.url}/v1.0${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers },
    })
  const page = async (path: string, headers: Record<string, string> = {}) =>
    (await (await call(path, { headers })).json()) as Page
  const send = (method: string, path: string, body?: object) =>
    call(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
  return { microsoft, call, page, send, accessToken, refreshToken }
}
