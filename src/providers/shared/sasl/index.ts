/** Logins with an OAuth access token (RFC 7628) and with CRAM-MD5 (RFC 2195), for IMAP and SMTP. */
export { cramMd5Response } from './cram-md5.ts'
export {
  chooseOAuthMechanism,
  decodeChallenge,
  endOfExchange,
  initialResponse,
  type OAuthMechanism,
  refusedToken,
  withoutOAuth,
} from './oauth.ts'
