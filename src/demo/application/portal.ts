import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { DemoService } from '../service.ts'

/** Signs the browser of the demo in to the portal of the service. */
export interface PortalSignIn {
  /** The path of the page that signs in. Its ticket is valid once, so that it is worth nothing in a history. */
  path: string
  /** The cookies of a new session; undefined for a wrong or used ticket. */
  cookies(ticket: string): Promise<string[] | undefined>
  /** The cookies of a new session, for a request that was checked otherwise. */
  signIn(): Promise<string[]>
  /** The portal. */
  url: string
}

export function portalSignIn({ url, password }: Pick<DemoService, 'url' | 'password'>): PortalSignIn {
  async function signIn(): Promise<string[]> {
    const response = await fetch(`${url}/admin/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password }),
      signal: AbortSignal.timeout(10_000),
    })
    if (!response.ok) throw new Error(`The portal refused the sign-in: ${response.status}.`)
    return response.headers.getSetCookie()
  }

  let ticket: Buffer | undefined = Buffer.from(randomBytes(24).toString('base64url'))
  return {
    path: `/portal?ticket=${ticket}`,
    url: `${url}/admin`,
    async cookies(cookieHeader) {
      const sent = Buffer.from(cookieHeader)
      if (ticket === undefined || sent.length !== ticket.length || !timingSafeEqual(sent, ticket)) return undefined
      ticket = undefined
      return signIn()
    },
    signIn,
  }
}
