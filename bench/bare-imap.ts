import { ImapFlow, type ImapFlowOptions } from 'imapflow'

/** Where the client connects, and as whom. */
export interface BareImap {
  host: string
  port: number
  user: string
  password: string
}

/** A bare imapflow client that has logged in. Its errors close it, and are not reported. */
export async function connectBare(
  { host, port, user, password }: BareImap,
  options: Partial<ImapFlowOptions> = {},
): Promise<ImapFlow> {
  const client = new ImapFlow({
    host,
    port,
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user, pass: password },
    logger: false,
    ...options,
  })
  // An error event without a listener would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
