import { readFileSync } from 'node:fs'
import { type Collection, createServer, type Entity, type ServicePlugin, type Store } from '@emulators/core'

export const client = { id: '11111111-2222-4333-8444-555555555555', secret: 'microsoft-secret' }

export interface Person {
  name?: string | undefined
  address: string
}

/** The package publishes no types of its store; these are the columns used here. */
export interface UserRow extends Entity {
  oid: string
  email: string
  tenant_id: string
}
export interface FolderRow extends Entity {
  microsoft_id: string
  user_email: string
  display_name: string
  parent_folder_id: string | null
  child_folder_count: number
  well_known_name: string | null
  is_hidden: boolean
}
export interface MessageRow extends Entity {
  microsoft_id: string
  conversation_id: string
  conversation_index: string
  internet_message_id: string
  user_email: string
  subject: string
  body_preview: string
  body_content_type: string
  body_content: string
  from_name: string | null
  from_address: string | null
  sender_name: string | null
  sender_address: string | null
  to_recipients: Person[]
  cc_recipients: Person[]
  bcc_recipients: Person[]
  reply_to: Person[]
  received_date_time: string
  sent_date_time: string | null
  created_date_time: string
  last_modified_date_time: string
  is_draft: boolean
  is_read: boolean
  importance: string
  categories: string[]
  parent_folder_id: string
  has_attachments: boolean
  web_link: string
  in_reply_to_microsoft_id: string | null
}
export interface AttachmentRow extends Entity {
  microsoft_id: string
  message_microsoft_id: string
  user_email: string
  name: string
  content_type: string
  size: number
  content_bytes: string
  is_inline: boolean
  content_id: string | null
}

interface MicrosoftStore {
  users: Collection<UserRow>
  oauthClients: Collection<Entity & { client_id: string; redirect_uris: string[] }>
  mailFolders: Collection<FolderRow>
  messages: Collection<MessageRow>
  attachments: Collection<AttachmentRow>
}

interface Part {
  microsoftPlugin: ServicePlugin
  getMicrosoftStore(store: Store): MicrosoftStore
  seedFromConfig(store: Store, baseUrl: string, config: object): void
}

/**
 * The part of the package that is Microsoft, without its server: that one listens on every interface and takes an unknown token for
 * the first user. The file carries a hash in its name, so that its entry says where it is.
 */
async function load(): Promise<Part> {
  const entry = import.meta.resolve('@inbox-zero/emulate')
  const file = /import\("(\.\/[\w-]+\.js)"\);\s*return \{ plugin: mod\.microsoftPlugin/.exec(
    readFileSync(new URL(entry), 'utf8'),
  )
  if (!file?.[1]) throw new Error('@inbox-zero/emulate no longer holds its Microsoft part where it was')
  return (await import(new URL(file[1], entry).href)) as Part
}

/** The published package, in this process: its store, and its routes spoken to without a socket. */
export type Package = Awaited<ReturnType<typeof openPackage>>

export async function openPackage(baseUrl: string) {
  const part = await load()
  const { app, store, tokenMap } = createServer(part.microsoftPlugin, { baseUrl })
  const microsoft = part.getMicrosoftStore(store)
  const seed = (config: object) => part.seedFromConfig(store, baseUrl, config)
  seed({ oauth_clients: [{ client_id: client.id, client_secret: client.secret, name: 'Posthorn', redirect_uris: [] }] })
  let issued = 0

  return {
    microsoft,
    seed,
    /** A request to the package's own routes; with `user`, signed in as them. A token refuses after 5,000 requests, so each is used once. */
    async ask(path: string, init: RequestInit & { user?: string } = {}): Promise<Response> {
      const headers = new Headers(init.headers)
      headers.delete('authorization')
      const bearer = `inner-${issued++}`
      if (init.user !== undefined) {
        tokenMap.set(bearer, { login: init.user, id: 1, scopes: [] })
        headers.set('authorization', `Bearer ${bearer}`)
      }
      const answer = await app.fetch(new Request(`${baseUrl}${path}`, { ...init, headers }))
      tokenMap.delete(bearer)
      return answer
    },
  }
}
