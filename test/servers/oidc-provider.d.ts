/** The members of oidc-provider that the issuer of the tests uses. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface StoredToken {
    /** The token itself, as all of them are opaque here. */
    jti: string
    accountId: string
    grantId: string | undefined
    destroy(): Promise<void>
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    proxy: boolean
    callback(): RequestListener
    on(event: 'grant.success' | 'grant.error', listener: (context: GrantContext) => void): this
    on(event: 'access_token.saved' | 'refresh_token.saved', listener: (token: StoredToken) => void): this
    readonly Client: {
      find(id: string): Promise<object | undefined>
      prototype: { redirectUriAllowed(uri: string): boolean }
    }
    readonly AccessToken: new (
      fields: object,
    ) => { save(): Promise<string> }
    readonly RefreshToken: new (
      fields: object,
    ) => { save(): Promise<string> }
    readonly Grant: (new (
      fields: object,
    ) => { addOIDCScope(scope: string): void; save(): Promise<string> }) & {
      find(id: string): Promise<{ destroy(): Promise<void> } | undefined>
    }
  }

  interface GrantContext {
    oidc: { params: Record<string, string | undefined> }
  }
}
