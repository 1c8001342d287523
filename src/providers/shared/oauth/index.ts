/**
 * The authorization code flow that Google and Microsoft share, over oauth4webapi: bounded requests, errors as `ProviderError`.
 * The differences (addresses, scopes, who signed in) are in each provider's `login.ts`.
 */
export { type AppTokenRequest, requestAppToken } from './app-token.ts'
export { type OAuthClientOptions, oauthClient, type SignedInGet } from './client.ts'
export { type TokenError, unusableResponse } from './errors.ts'
export { readClaims } from './id-token.ts'
export { parseRsaKey, signedJwt } from './signed-jwt.ts'
