/**
 * The authorization code flow that Google and Microsoft share: requests with limits, errors in the words of the contract.
 * What differs (addresses, scopes, who signed in) stands in each provider's `login.ts`.
 */
export { type Ask, noSense, type OAuthClientOptions, oauthClient } from './client.ts'
