import { readFileSync } from 'node:fs'
import { type Collection, createServer, type Entity, type ServicePlugin, type Store } from '@emulators/core'

export const client = { id: '11111111-2222-4333-8444-555555555555', secret: 'microsoft-secret' }

export interface Person {
  name?: string | undefined
  address: string
}

/** The emulator publishes no types for its store; these are the columns used here. */
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

interface MicrosoftModule {
  microsoftPlugin: ServicePlugin
  getMicrosoftStore(store: Store): MicrosoftStore
  seedFromConfig(store: Store, baseUrl: string, config: object): void
}

/**
 * Loads the Microsoft module of the emulator without its server, which listens on every interface and treats an unknown token
 * as the first user's. The module's file name contains a hash, so the path is read from the package's entry file.
 */
async function load(): Promise<MicrosoftModule> {
  const entry = import.meta.resolve('@inbox-zero/emulate')
  const file = /import\("(\.\/[\w-]+\.js)"\);\s*return \{ plugin: mod\.microsoftPlugin/.exec(
    readFileSync(new URL(entry), 'utf8'),
  )
  if (!file?.[1])
    throw new Error(
      'The entry file of @inbox-zero/emulate does not import a Microsoft module. Adapt load() to the new version.',
    )
  return (await import(new URL(file[1], entry).href)) as MicrosoftModule
}

/** The npm emulator of Microsoft, run in this process: its store, and its routes called without a socket. */
export type Emulator = Awaited<ReturnType<typeof openEmulator>>

export async function openEmulator(baseUrl: string) {
  const module = await load()
  const { app, store, tokenMap } = createServer(module.microsoftPlugin, { baseUrl })
  const microsoft = module.getMicrosoftStore(store)
  const seed = (config: object) => module.seedFromConfig(store, baseUrl, config)
  seed({ oauth_clients: [{ client_id: client.id, client_secret: client.secret, name: 'Posthorn', redirect_uris: [] }] })
  let issued = 0

  return {
    microsoft,
    seed,
    /** Sends a request to the emulator's routes, signed in as `user` if given. Each token is used once, since it allows 5,000 requests. */
    async request(path: string, init: RequestInit & { user?: string } = {}): Promise<Response> {
      const headers = new Headers(init.headers)
      headers.delete('authorization')
      const bearer = `emulator-${issued++}`
      if (init.user !== undefined) {
        tokenMap.set(bearer, { login: init.user, id: 1, scopes: [] })
        headers.set('authorization', `Bearer ${bearer}`)
      }
      const response = await app.fetch(new Request(`${baseUrl}${path}`, { ...init, headers }))
      tokenMap.delete(bearer)
      return response
    },
  }
}
