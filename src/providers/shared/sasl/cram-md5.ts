import { createHmac } from 'node:crypto'

/**
 * The response to a challenge of CRAM-MD5 (RFC 2195). The password does not cross the connection, but a listener can guess it, so SCRAM
 * and TLS come first.
 */
export function cramMd5Response(
  challenge: string,
  { username, password }: { username: string; password: string },
): string {
  const digest = createHmac('md5', password).update(challenge).digest('hex')
  return `${username} ${digest}`
}
