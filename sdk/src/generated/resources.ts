// Generated from openapi.json by `npm run generate`.

import { type ApiRequest, type Client, type IdempotentOptions, path, type RequestOptions } from '../http/client.ts'
import { readStream, type StreamOptions } from '../http/event-stream.ts'
import { listPages, type PagedList } from '../http/page.ts'
import type { Files } from '../http/upload.ts'
import type { Body, List, Query, Result } from '../operation-types.ts'
import type { Event, LogEntry } from './schema.ts'

/** Sessions of hosted authentication, in which users connect their mailboxes. */
export class Sessions {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Create a session
   *
   * Returns a single-use link, `authUrl`. Open it in the browser of the user, who connects a mailbox there. The browser then goes to `redirectUri` with `status=success`, `accountId`, `provider`, `email` and `session`. If the user cancels or cannot go on, it has `status=cancelled` or `status=error`, `error` (a code) and `session`.
   *
   * `POST /auth/sessions`
   */
  create(body?: Body<'createAuthSession'>, options?: IdempotentOptions): Promise<Result<'createAuthSession'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/auth/sessions`,
      body: body ?? {},
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the status of a session
   *
   * `GET /auth/sessions/{code}`
   */
  get(code: string, options?: RequestOptions): Promise<Result<'getAuthSession'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/auth/sessions/${code}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Start a session at one provider
   *
   * Returns the URL to open in the browser, for applications that let users choose the provider on a page of their own. Needs the API key, or the cookie of the hosted page (GET /auth/authorize) for this session and state. With the cookie, the consent must end in the same browser.
   *
   * `POST /auth/sessions/{code}/start`
   */
  start(code: string, body: Body<'startAuthSession'>, options?: RequestOptions): Promise<Result<'startAuthSession'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/auth/sessions/${code}/start`,
      body,
    }
    return this.#client.json(request, options)
  }
}

/** The requests of the hosted pages, for applications that have screens of their own. */
export class HostedPages {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Open the hosted page
   *
   * The link of a session leads here. Opening it changes nothing.
   *
   * `GET /auth/authorize`
   */
  open(query?: Query<'openHostedPage'>, options?: RequestOptions): Promise<string> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/auth/authorize`,
      query,
    }
    return this.#client.text(request, options)
  }

  /**
   * Choose the provider
   *
   * Returns the next page: the form for a mail server, or the way to the consent page of the provider. Without a provider, the service finds the one of the address. A form needs the cookie of the page. JSON that leads to a consent page needs the API key or that cookie; with the cookie, the consent must end in the same browser.
   *
   * `POST /auth/authorize`
   */
  chooseProvider(body: Body<'chooseProvider'>, options?: RequestOptions): Promise<string> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/auth/authorize`,
      body,
    }
    return this.#client.text(request, options)
  }

  /**
   * Connect an IMAP mailbox
   *
   * Signs in to the mail server. An application with a form of its own can send JSON.
   *
   * `POST /auth/authorize/imap`
   */
  connectImapMailbox(body: Body<'connectImapMailbox'>, options?: RequestOptions): Promise<string> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/auth/authorize/imap`,
      body,
    }
    return this.#client.text(request, options)
  }

  /**
   * List the folders of a mail server
   *
   * Signs in to the mail server and returns the folders that can be connected. Connects nothing.
   *
   * `POST /auth/authorize/imap/folders`
   */
  listImapFolders(body: Body<'listImapFolders'>, options?: RequestOptions): Promise<Result<'listImapFolders'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/auth/authorize/imap/folders`,
      body,
    }
    return this.#client.json(request, options)
  }

  /**
   * Complete a sign-in at a provider
   *
   * The provider sends the browser of the user here. Applications do not call it.
   *
   * `GET /providers/{providerName}/callback`
   */
  completeProviderSignIn(providerName: string, query?: Query<'completeProviderSignIn'>, options?: RequestOptions): Promise<Response> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/providers/${providerName}/callback`,
      query,
    }
    return this.#client.raw(request, options)
  }
}

/** Connected mailboxes. */
export class Accounts {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List accounts, newest first
   *
   * `GET /accounts`
   */
  list(query?: Query<'listAccounts'>, options?: RequestOptions): PagedList<List<'listAccounts', 'accounts'>, Result<'listAccounts'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts`,
      query,
    }
    return listPages(this.#client, request, 'accounts', options)
  }

  /**
   * Connect a mailbox with its credentials, an OAuth refresh token, a connection, or the account that it is shared with
   *
   * Verifies the credentials by logging in. Connecting the same mailbox with the same customUserId again updates the account. For gmail and microsoft, pass a refreshToken that was issued to the OAuth client of this service; the provider identifies its user. With connectionId and email, the mailbox is opened with the tokens of that connection, without the consent of its user. With sharedWith and mailbox, it is a shared mailbox of Microsoft 365, opened with the tokens of the user of that account.
   *
   * `POST /accounts`
   */
  create(body: Body<'createAccount'>, options?: IdempotentOptions): Promise<Result<'createAccount'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get an account
   *
   * `GET /accounts/{accountId}`
   */
  get(accountId: string, options?: RequestOptions): Promise<Result<'getAccount'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Change an account
   *
   * `PATCH /accounts/{accountId}`
   */
  update(accountId: string, body?: Body<'updateAccount'>, options?: RequestOptions): Promise<Result<'updateAccount'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/accounts/${accountId}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete an account and all its data
   *
   * The account disappears at once; its data is erased in the background. One account.deleted event remains.
   *
   * `DELETE /accounts/{accountId}`
   */
  delete(accountId: string, options?: RequestOptions): Promise<Result<'deleteAccount'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/accounts/${accountId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Pause an account
   *
   * The service does not sync the account or keep a connection open until it is resumed.
   *
   * `POST /accounts/{accountId}/pause`
   */
  pause(accountId: string, options?: IdempotentOptions): Promise<Result<'pauseAccount'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/pause`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Resume a paused account
   *
   * The next sync catches up on everything that changed meanwhile.
   *
   * `POST /accounts/{accountId}/resume`
   */
  resume(accountId: string, options?: IdempotentOptions): Promise<Result<'resumeAccount'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/resume`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Sync an account now
   *
   * Returns immediately. The sync starts at once over a new connection, whatever pause the provider asked for. Tries rejected credentials once more; a paused account stays paused.
   *
   * `POST /accounts/{accountId}/sync`
   */
  sync(accountId: string, options?: IdempotentOptions): Promise<Result<'syncAccount'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/sync`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** Credentials with which your application opens all mailboxes of an organisation. */
export class Connections {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List connections, newest first
   *
   * `GET /connections`
   */
  list(query?: Query<'listConnections'>, options?: RequestOptions): PagedList<List<'listConnections', 'connections'>, Result<'listConnections'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/connections`,
      query,
    }
    return listPages(this.#client, request, 'connections', options)
  }

  /**
   * Create a connection
   *
   * Stores the credentials with which your application opens all mailboxes of an organisation, after it has requested a token with them. `POST /accounts` with `connectionId` then connects mailboxes by their addresses.
   *
   * `POST /connections`
   */
  create(body: Body<'createConnection'>, options?: IdempotentOptions): Promise<Result<'createConnection'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/connections`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get a connection
   *
   * `GET /connections/{connectionId}`
   */
  get(connectionId: string, options?: RequestOptions): Promise<Result<'getConnection'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/connections/${connectionId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Rename a connection, or replace its secret
   *
   * A new secret is stored after the provider has issued a token for it. Accounts of the connection that are in `auth_error` are then tried again.
   *
   * `PATCH /connections/{connectionId}`
   */
  update(connectionId: string, body?: Body<'updateConnection'>, options?: RequestOptions): Promise<Result<'updateConnection'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/connections/${connectionId}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a connection
   *
   * Refused while accounts use it, unless `force` is true: then they are deleted, too.
   *
   * `DELETE /connections/{connectionId}`
   */
  delete(connectionId: string, query?: Query<'deleteConnection'>, options?: RequestOptions): Promise<Result<'deleteConnection'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/connections/${connectionId}`,
      query,
    }
    return this.#client.json(request, options)
  }

  /**
   * List the users of the organisation
   *
   * Read from its directory, which takes a permission of its own: for microsoft the application permission `User.Read.All`, for gmail an `adminEmail` and the scope `admin.directory.user.readonly`. Without it the response is `409 consent_required`, and mailboxes are connected by their addresses. `total` counts the users up to the end of the page while there are more.
   *
   * `GET /connections/{connectionId}/users`
   */
  listUsers(connectionId: string, query?: Query<'listConnectionUsers'>, options?: RequestOptions): PagedList<List<'listConnectionUsers', 'users'>, Result<'listConnectionUsers'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/connections/${connectionId}/users`,
      query,
    }
    return listPages(this.#client, request, 'users', options)
  }
}

/** The messages of an account. */
export class Messages {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List messages, newest first
   *
   * Without labelId and mailbox: the account's main folder for imap; every message outside trash and junk for gmail and microsoft. A search (q, from, to, subject) covers every synced folder outside trash and junk, for imap, too.
   *
   * `GET /accounts/{accountId}/messages`
   */
  list(accountId: string, query?: Query<'listMessages'>, options?: RequestOptions): PagedList<List<'listMessages', 'messages'>, Result<'listMessages'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/messages`,
      query,
    }
    return listPages(this.#client, request, 'messages', options)
  }

  /**
   * Get a message with its body and headers
   *
   * The service reads the body and the headers from the provider, unless sync.storeBodies is on.
   *
   * `GET /accounts/{accountId}/messages/{messageId}`
   */
  get(accountId: string, messageId: string, query?: Query<'getMessage'>, options?: RequestOptions): Promise<Result<'getMessage'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/messages/${messageId}`,
      query,
    }
    return this.#client.json(request, options)
  }

  /**
   * Mark, star, label or move a message
   *
   * Changes the message at the provider, then here; the response has its new state. A message of an imap or microsoft account has exactly one label, its folder: another one moves it.
   *
   * `PATCH /accounts/{accountId}/messages/{messageId}`
   */
  update(accountId: string, messageId: string, body?: Body<'updateMessage'>, options?: RequestOptions): Promise<Result<'updateMessage'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/accounts/${accountId}/messages/${messageId}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Change up to 500 messages
   *
   * Returns a result for each id, in order. A failure concerns that message only. A message of an imap or microsoft account has exactly one label, its folder: another one moves it.
   *
   * `POST /accounts/{accountId}/messages/batch`
   */
  updateMany(accountId: string, body: Body<'updateMessages'>, options?: IdempotentOptions): Promise<Result<'updateMessages'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/messages/batch`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Move a message to the trash, or delete it for good
   *
   * A Gmail account needs the scope https://mail.google.com/ to delete for good (409 consent_required); moving to the trash does not.
   *
   * `DELETE /accounts/{accountId}/messages/{messageId}`
   */
  delete(accountId: string, messageId: string, query?: Query<'deleteMessage'>, options?: RequestOptions): Promise<Result<'deleteMessage'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/accounts/${accountId}/messages/${messageId}`,
      query,
    }
    return this.#client.json(request, options)
  }

  /**
   * Download the original message (RFC 5322) from the provider
   *
   * `GET /accounts/{accountId}/messages/{messageId}/raw`
   */
  download(accountId: string, messageId: string, options?: RequestOptions & { range?: string | undefined; ifRange?: string | undefined; ifNoneMatch?: string | undefined }): Promise<Response> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/messages/${messageId}/raw`,
      headers: { 'range': options?.range, 'if-range': options?.ifRange, 'if-none-match': options?.ifNoneMatch },
    }
    return this.#client.raw(request, options)
  }

  /**
   * Send a message
   *
   * Accepts the message and sends it in the background, once: see the outbox. The response names the id that the message will have in Sent. With an Idempotency-Key, a repeated request sends nothing.
   *
   * `POST /accounts/{accountId}/messages/send`
   */
  send(accountId: string, body: Body<'sendMessage'>, options?: IdempotentOptions & { files?: Files | undefined }): Promise<Result<'sendMessage'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/messages/send`,
      body,
      files: options?.files,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the opens, clicks and replies of a message
   *
   * `GET /messages/tracking/{id}`
   */
  getTracking(id: string, options?: RequestOptions): Promise<Result<'getMessageTracking'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/messages/tracking/${id}`,
    }
    return this.#client.json(request, options)
  }
}

/** The attachments of messages. */
export class Attachments {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Download an attachment
   *
   * `GET /accounts/{accountId}/messages/{messageId}/attachments/{attachmentId}`
   */
  download(accountId: string, messageId: string, attachmentId: string, options?: RequestOptions & { range?: string | undefined; ifRange?: string | undefined; ifNoneMatch?: string | undefined }): Promise<Response> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/messages/${messageId}/attachments/${attachmentId}`,
      headers: { 'range': options?.range, 'if-range': options?.ifRange, 'if-none-match': options?.ifNoneMatch },
    }
    return this.#client.raw(request, options)
  }
}

/** The conversations of an account. */
export class Threads {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List threads, newest first
   *
   * Threads are sorted by their newest message with the label. Without labelId: the account's main folder for imap; every message outside trash and junk for gmail and microsoft.
   *
   * `GET /accounts/{accountId}/threads`
   */
  list(accountId: string, query?: Query<'listThreads'>, options?: RequestOptions): PagedList<List<'listThreads', 'threads'>, Result<'listThreads'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/threads`,
      query,
    }
    return listPages(this.#client, request, 'threads', options)
  }

  /**
   * Get a thread with its messages, newest first
   *
   * Holds the stored messages of every folder. The page parameters select among its messages.
   *
   * `GET /accounts/{accountId}/threads/{threadId}`
   */
  get(accountId: string, threadId: string, query?: Query<'getThread'>, options?: RequestOptions): Promise<Result<'getThread'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/threads/${threadId}`,
      query,
    }
    return this.#client.json(request, options)
  }
}

/** The drafts of an account, in sync with its Drafts folder. */
export class Drafts {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List drafts, newest first
   *
   * Every message in the Drafts folder, whichever program wrote it.
   *
   * `GET /accounts/{accountId}/drafts`
   */
  list(accountId: string, query?: Query<'listDrafts'>, options?: RequestOptions): PagedList<List<'listDrafts', 'drafts'>, Result<'listDrafts'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/drafts`,
      query,
    }
    return listPages(this.#client, request, 'drafts', options)
  }

  /**
   * Save a draft, with its tracking values
   *
   * Saves the draft at the provider, as POST /drafts does. The tracking values are not part of the draft.
   *
   * `POST /accounts/{accountId}/drafts`
   */
  save(accountId: string, body: Body<'saveDraft'>, options?: IdempotentOptions & { files?: Files | undefined }): Promise<Result<'saveDraft'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/drafts`,
      body,
      files: options?.files,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Save a draft
   *
   * Saves a draft at the provider. With an Idempotency-Key, a request that is repeated after a failure saves it once.
   *
   * `POST /drafts`
   */
  create(body: Body<'createDraft'>, options?: IdempotentOptions & { files?: Files | undefined }): Promise<Result<'createDraft'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/drafts`,
      body,
      files: options?.files,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get a draft
   *
   * `GET /drafts/{draftId}`
   */
  get(draftId: string, options?: RequestOptions): Promise<Result<'getDraft'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/drafts/${draftId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Change a draft
   *
   * Replaces the given fields, at the provider too. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current draft in `error.current`.
   *
   * `PUT /drafts/{draftId}`
   */
  update(draftId: string, body?: Body<'updateDraft'>, options?: RequestOptions & { files?: Files | undefined; ifMatch?: string | undefined }): Promise<Result<'updateDraft'>> {
    const request: ApiRequest = {
      method: 'PUT',
      path: path`/drafts/${draftId}`,
      body: body ?? {},
      files: options?.files,
      headers: { 'if-match': options?.ifMatch },
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a draft for good
   *
   * Deletes it at the provider too.
   *
   * `DELETE /drafts/{draftId}`
   */
  delete(draftId: string, options?: RequestOptions): Promise<Result<'deleteDraft'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/drafts/${draftId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Send a draft
   *
   * Accepts the current version of the draft and sends it in the background, once: see the outbox. A change or a deletion of the draft after the request does not change what is sent; cancel the message in the outbox for that. Once it was sent, the draft is deleted, unless it was changed in between. `If-Match` as for a change.
   *
   * `POST /drafts/{draftId}/send`
   */
  send(draftId: string, body?: Body<'sendDraft'>, options?: IdempotentOptions & { ifMatch?: string | undefined }): Promise<Result<'sendDraft'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/drafts/${draftId}/send`,
      body: body ?? {},
      headers: { 'if-match': options?.ifMatch },
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** What became of sent messages. */
export class Outbox {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List sent and waiting messages, newest first
   *
   * Messages sent through this API. They stay in the list for 30 days.
   *
   * `GET /outbox`
   */
  list(query?: Query<'listOutboxMessages'>, options?: RequestOptions): PagedList<List<'listOutboxMessages', 'messages'>, Result<'listOutboxMessages'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/outbox`,
      query,
    }
    return listPages(this.#client, request, 'messages', options)
  }

  /**
   * Get a message of the outbox
   *
   * `GET /outbox/{outboxId}`
   */
  get(outboxId: string, options?: RequestOptions): Promise<Result<'getOutboxMessage'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/outbox/${outboxId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Cancel a message that has not been sent
   *
   * Returns 409 once sending has begun.
   *
   * `DELETE /outbox/{outboxId}`
   */
  cancel(outboxId: string, options?: RequestOptions): Promise<Result<'cancelOutboxMessage'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/outbox/${outboxId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Resolve a message that failed or whose outcome is unknown
   *
   * `POST /outbox/{outboxId}/resolve`
   */
  resolve(outboxId: string, body: Body<'resolveOutboxMessage'>, options?: IdempotentOptions): Promise<Result<'resolveOutboxMessage'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/outbox/${outboxId}/resolve`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** The labels of a gmail mailbox, or the folders of any other. */
export class Labels {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the labels or folders of an account
   *
   * The labels found by the last sync, sorted by provider id.
   *
   * `GET /accounts/{accountId}/labels`
   */
  list(accountId: string, query?: Query<'listLabels'>, options?: RequestOptions): PagedList<List<'listLabels', 'labels'>, Result<'listLabels'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/labels`,
      query,
    }
    return listPages(this.#client, request, 'labels', options)
  }

  /**
   * Create a label or folder
   *
   * `POST /accounts/{accountId}/labels`
   */
  create(accountId: string, body: Body<'createLabel'>, options?: IdempotentOptions): Promise<Result<'createLabel'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/labels`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Rename, move or colour a label
   *
   * Labels below it are renamed with it. Labels of type "system" cannot be changed (409 not_supported).
   *
   * `PATCH /accounts/{accountId}/labels/{labelId}`
   */
  update(accountId: string, labelId: string, body?: Body<'updateLabel'>, options?: RequestOptions): Promise<Result<'updateLabel'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/accounts/${accountId}/labels/${labelId}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a label or folder
   *
   * At Gmail its messages stay without the label. Microsoft moves a folder to Deleted Items; an IMAP server deletes it with its messages.
   *
   * `DELETE /accounts/{accountId}/labels/{labelId}`
   */
  delete(accountId: string, labelId: string, options?: RequestOptions): Promise<Result<'deleteLabel'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/accounts/${accountId}/labels/${labelId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Refresh the labels from the provider
   *
   * Reads the labels from the provider now. Sync does so by itself every few minutes.
   *
   * `POST /accounts/{accountId}/labels/sync`
   */
  sync(accountId: string, options?: IdempotentOptions): Promise<Result<'syncLabels'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/labels/sync`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Clear the cached labels
   *
   * The next list of labels reads them from the provider first. Labels keep their ids.
   *
   * `POST /accounts/{accountId}/labels/cache/clear`
   */
  clearCache(accountId: string, options?: IdempotentOptions): Promise<Result<'clearLabelCache'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/labels/cache/clear`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** The calendars of an account. */
export class Calendars {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the calendars of an account
   *
   * The primary calendar first, then by name. Empty for an imap account without a CalDAV server. A new calendar appears within a minute; with `refresh=true` or Cache-Control: no-cache, at once.
   *
   * `GET /accounts/{accountId}/calendars`
   */
  list(accountId: string, query?: Query<'listCalendars'>, options?: RequestOptions): PagedList<List<'listCalendars', 'calendars'>, Result<'listCalendars'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/calendars`,
      query,
    }
    return listPages(this.#client, request, 'calendars', options)
  }
}

/** The events of a calendar. */
export class CalendarEvents {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the events of a calendar
   *
   * In order of their start. Without timeMin the list begins with the first event of the calendar, without timeMax it ends with the last one, and instances of a series without an end go on until 2200. Events in the time range of the setting SYNC_CALENDAR_WINDOW are stored; other times, and any with Cache-Control: no-cache, are read from the provider. `pagination.total` is what is known so far where `totalCapped` is true.
   *
   * `GET /accounts/{accountId}/calendars/{calendarId}/events`
   */
  list(accountId: string, calendarId: string, query?: Query<'listCalendarEvents'>, options?: RequestOptions): PagedList<List<'listCalendarEvents', 'events'>, Result<'listCalendarEvents'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/calendars/${calendarId}/events`,
      query,
    }
    return listPages(this.#client, request, 'events', options)
  }

  /**
   * Create a calendar event
   *
   * Creates the event at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.
   *
   * `POST /accounts/{accountId}/calendars/{calendarId}/events`
   */
  create(accountId: string, calendarId: string, body: Body<'createCalendarEvent'>, query?: Query<'createCalendarEvent'>, options?: IdempotentOptions): Promise<Result<'createCalendarEvent'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/calendars/${calendarId}/events`,
      query,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get a calendar event
   *
   * Of a series, its first instance with its recurrence. Read from the provider with Cache-Control: no-cache, and when no instance is in the stored time.
   *
   * `GET /accounts/{accountId}/calendars/{calendarId}/events/{eventId}`
   */
  get(accountId: string, calendarId: string, eventId: string, options?: RequestOptions): Promise<Result<'getCalendarEvent'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/calendars/${calendarId}/events/${eventId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Change a calendar event
   *
   * Changes the given fields, at the provider too. With `scope=following` the series ends before the instance, and the response is a new series that begins with it; with `scope=all`, `start` and `end` are those of the first instance. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current event in `error.current`.
   *
   * `PATCH /accounts/{accountId}/calendars/{calendarId}/events/{eventId}`
   */
  update(accountId: string, calendarId: string, eventId: string, body: Body<'updateCalendarEvent'>, query?: Query<'updateCalendarEvent'>, options?: RequestOptions & { ifMatch?: string | undefined }): Promise<Result<'updateCalendarEvent'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/accounts/${accountId}/calendars/${calendarId}/events/${eventId}`,
      query,
      body,
      headers: { 'if-match': options?.ifMatch },
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a calendar event
   *
   * Deletes the event, the series or the instance that the id names, at the provider too. With `scope=following` the series ends before the instance.
   *
   * `DELETE /accounts/{accountId}/calendars/{calendarId}/events/{eventId}`
   */
  delete(accountId: string, calendarId: string, eventId: string, query?: Query<'deleteCalendarEvent'>, options?: RequestOptions): Promise<Result<'deleteCalendarEvent'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/accounts/${accountId}/calendars/${calendarId}/events/${eventId}`,
      query,
    }
    return this.#client.json(request, options)
  }

  /**
   * Respond to an invitation
   *
   * Accepts or declines for the account, at the provider too. `scope` is this or all. Outlook removes a declined meeting from the calendar: the response is then the event with status cancelled. 409 not_supported when the account is not invited.
   *
   * `POST /accounts/{accountId}/calendars/{calendarId}/events/{eventId}/respond`
   */
  respond(accountId: string, calendarId: string, eventId: string, body: Body<'respondToCalendarEvent'>, query?: Query<'respondToCalendarEvent'>, options?: IdempotentOptions): Promise<Result<'respondToCalendarEvent'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/calendars/${calendarId}/events/${eventId}/respond`,
      query,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** The contacts of an account. */
export class Contacts {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the contacts of an account
   *
   * By surname, then by the other names. Filters are combined. 409 not_supported while the setting CONTACTS_ENABLED is off.
   *
   * `GET /accounts/{accountId}/contacts`
   */
  list(accountId: string, query?: Query<'listContacts'>, options?: RequestOptions): PagedList<List<'listContacts', 'contacts'>, Result<'listContacts'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/contacts`,
      query,
    }
    return listPages(this.#client, request, 'contacts', options)
  }

  /**
   * Get a contact
   *
   * `GET /accounts/{accountId}/contacts/{contactId}`
   */
  get(accountId: string, contactId: string, options?: RequestOptions): Promise<Result<'getContact'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/contacts/${contactId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Create a contact
   *
   * Creates the contact at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.
   *
   * `POST /accounts/{accountId}/contacts`
   */
  create(accountId: string, body: Body<'createContact'>, options?: IdempotentOptions): Promise<Result<'createContact'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/contacts`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Change a contact
   *
   * Changes the given fields, at the provider too. Null empties a field, and a list replaces the list. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current contact in `error.current`.
   *
   * `PATCH /accounts/{accountId}/contacts/{contactId}`
   */
  update(accountId: string, contactId: string, body?: Body<'updateContact'>, options?: RequestOptions & { ifMatch?: string | undefined }): Promise<Result<'updateContact'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/accounts/${accountId}/contacts/${contactId}`,
      body: body ?? {},
      headers: { 'if-match': options?.ifMatch },
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a contact
   *
   * Deletes the contact at the provider too.
   *
   * `DELETE /accounts/{accountId}/contacts/{contactId}`
   */
  delete(accountId: string, contactId: string, options?: RequestOptions): Promise<Result<'deleteContact'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/accounts/${accountId}/contacts/${contactId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the photo of a contact
   *
   * As the provider has it now: a JPEG, PNG, GIF or WebP image of at most 5 MB. 404 when there is none, or when it is something else.
   *
   * `GET /accounts/{accountId}/contacts/{contactId}/photo`
   */
  getPhoto(accountId: string, contactId: string, options?: RequestOptions): Promise<Response> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/contacts/${contactId}/photo`,
    }
    return this.#client.raw(request, options)
  }
}

/** The groups of contacts. */
export class ContactGroups {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the groups of contacts
   *
   * `GET /accounts/{accountId}/contact-groups`
   */
  list(accountId: string, query?: Query<'listContactGroups'>, options?: RequestOptions): PagedList<List<'listContactGroups', 'groups'>, Result<'listContactGroups'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/contact-groups`,
      query,
    }
    return listPages(this.#client, request, 'groups', options)
  }

  /**
   * Create a group of contacts
   *
   * Creates the group at the provider. 409 conflict when a group has the name. 409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.
   *
   * `POST /accounts/{accountId}/contact-groups`
   */
  create(accountId: string, body: Body<'createContactGroup'>, options?: IdempotentOptions): Promise<Result<'createContactGroup'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/contact-groups`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Rename a group of contacts
   *
   * Renames the group at the provider, too. No event announces it. 409 conflict when another group has the name. 409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.
   *
   * `PATCH /accounts/{accountId}/contact-groups/{groupId}`
   */
  update(accountId: string, groupId: string, body: Body<'updateContactGroup'>, options?: RequestOptions): Promise<Result<'updateContactGroup'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/accounts/${accountId}/contact-groups/${groupId}`,
      body,
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a group of contacts
   *
   * Deletes the group at the provider, too. Its contacts remain; contact.updated announces each. 409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.
   *
   * `DELETE /accounts/{accountId}/contact-groups/{groupId}`
   */
  delete(accountId: string, groupId: string, options?: RequestOptions): Promise<Result<'deleteContactGroup'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/accounts/${accountId}/contact-groups/${groupId}`,
    }
    return this.#client.json(request, options)
  }
}

/** The address books of an account, with the state of their sync. */
export class AddressBooks {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the address books of an account
   *
   * Address books of CardDAV, contact folders of Outlook, and the contacts of Google, with the state of their sync.
   *
   * `GET /accounts/{accountId}/address-books`
   */
  list(accountId: string, query?: Query<'listAddressBooks'>, options?: RequestOptions): PagedList<List<'listAddressBooks', 'addressBooks'>, Result<'listAddressBooks'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/accounts/${accountId}/address-books`,
      query,
    }
    return listPages(this.#client, request, 'addressBooks', options)
  }
}

/** The free time of an account. */
export class Availability {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Find when people are available
   *
   * Divides a time range into slots and says who is available in each. Confirmed and tentative events block, also invitations without an answer; cancelled, transparent and declined ones do not. Changes nothing.
   *
   * `POST /accounts/{accountId}/availability`
   */
  find(accountId: string, body: Body<'findAvailability'>, options?: IdempotentOptions): Promise<Result<'findAvailability'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/accounts/${accountId}/availability`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** Flows in which guests book a time of your users. */
export class Experiences {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List experiences
   *
   * `GET /scheduler/experiences`
   */
  list(query?: Query<'listExperiences'>, options?: RequestOptions): PagedList<List<'listExperiences', 'experiences'>, Result<'listExperiences'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/scheduler/experiences`,
      query,
    }
    return listPages(this.#client, request, 'experiences', options)
  }

  /**
   * Create an experience
   *
   * `POST /scheduler/experiences`
   */
  create(body: Body<'createExperience'>, options?: IdempotentOptions): Promise<Result<'createExperience'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/experiences`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get an experience
   *
   * Without a key: what guests may know of an active experience; an inactive one is 404. Pages of `allowedOrigins` may request it.
   *
   * `GET /scheduler/experiences/{slug}`
   */
  get(slug: string, options?: RequestOptions): Promise<Result<'getExperience'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/scheduler/experiences/${slug}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Update an experience
   *
   * Experiences are not deleted, because bookings refer to them: set `isActive` to false. Changes apply to later bookings.
   *
   * `PATCH /scheduler/experiences/{slug}`
   */
  update(slug: string, body?: Body<'updateExperience'>, options?: RequestOptions): Promise<Result<'updateExperience'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/scheduler/experiences/${slug}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Send a code to a guest
   *
   * For experiences whose `bookingForm` has `verifyEmail`. Sends a code of six digits from the account of a host; the booking needs it as `verificationCode`, and the `verificationId` of the response beside it. It is valid for one booking, 10 minutes and 5 attempts. Without the `verificationId`, only the address of the client that requested the code may use it, and only its latest one. 429 mail_limited when too many messages went to addresses that are not verified. Needs no key.
   *
   * `POST /scheduler/experiences/{slug}/verification`
   */
  sendVerificationCode(slug: string, body: Body<'sendVerificationCode'>, options?: RequestOptions): Promise<Result<'sendVerificationCode'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/experiences/${slug}/verification`,
      body,
    }
    return this.#client.json(request, options)
  }
}

/** The free times of an experience. */
export class Slots {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List slots
   *
   * The slots of an active experience within a range, from its availability callback, or without one from its open hours and the calendars of its hosts. Needs no key. Pages of `allowedOrigins` may request it.
   *
   * `POST /scheduler/experiences/{slug}/availability`
   */
  list(slug: string, body: Body<'listSlots'>, options?: RequestOptions): Promise<Result<'listSlots'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/experiences/${slug}/availability`,
      body,
    }
    return this.#client.json(request, options)
  }
}

/** Slots that are kept for a guest for some minutes. */
export class Holds {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Hold a slot
   *
   * Keeps the slot for five minutes, while the guest fills in the form. Book it with `holdId`.
   *
   * `POST /scheduler/experiences/{slug}/holds`
   */
  create(slug: string, body: Body<'createHold'>, options?: RequestOptions): Promise<Result<'createHold'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/experiences/${slug}/holds`,
      body,
    }
    return this.#client.json(request, options)
  }
}

/** The bookings of guests. */
export class Bookings {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List bookings by start
   *
   * `GET /scheduler/bookings`
   */
  list(query?: Query<'listBookings'>, options?: RequestOptions): PagedList<List<'listBookings', 'bookings'>, Result<'listBookings'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/scheduler/bookings`,
      query,
    }
    return listPages(this.#client, request, 'bookings', options)
  }

  /**
   * Book a slot
   *
   * Asks the booking callback, which decides, then confirms the booking. Calendars and messages follow in the background. 409 slot_unavailable when the slot is taken or was refused; 409 redirected when the routing leads elsewhere.
   *
   * `POST /scheduler/experiences/{slug}/bookings`
   */
  create(slug: string, body: Body<'createBooking'>, options?: IdempotentOptions): Promise<Result<'createBooking'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/experiences/${slug}/bookings`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get a booking
   *
   * `GET /scheduler/bookings/{bookingId}`
   */
  get(bookingId: string, options?: RequestOptions): Promise<Result<'getBooking'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/scheduler/bookings/${bookingId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Update a booking
   *
   * Changes metadata and guest. Sends no messages and no events; the calendars show a new name.
   *
   * `PATCH /scheduler/bookings/{bookingId}`
   */
  update(bookingId: string, body?: Body<'updateBooking'>, options?: RequestOptions): Promise<Result<'updateBooking'>> {
    const request: ApiRequest = {
      method: 'PATCH',
      path: path`/scheduler/bookings/${bookingId}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Cancel a booking
   *
   * With an API key, or the `token` of a link. Cancelling again changes nothing.
   *
   * `POST /scheduler/bookings/{bookingId}/cancel`
   */
  cancel(bookingId: string, body?: Body<'cancelBooking'>, options?: RequestOptions): Promise<Result<'cancelBooking'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/bookings/${bookingId}/cancel`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Move a booking to another slot
   *
   * With an API key, or the `token` of a link. Asks the booking callback with `previousSlot`; a refusal leaves the booking as it was.
   *
   * `POST /scheduler/bookings/{bookingId}/reschedule`
   */
  reschedule(bookingId: string, body: Body<'rescheduleBooking'>, options?: RequestOptions): Promise<Result<'rescheduleBooking'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler/bookings/${bookingId}/reschedule`,
      body,
    }
    return this.#client.json(request, options)
  }
}

/** The work that follows from bookings. */
export class SchedulerQueue {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get the state of the booking queue
   *
   * `GET /scheduler-queue/status`
   */
  getStatus(options?: RequestOptions): Promise<Result<'getSchedulerQueueStatus'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/scheduler-queue/status`,
    }
    return this.#client.json(request, options)
  }

  /**
   * List the jobs of bookings, newest first
   *
   * callback: asks the booking callback again after a crash. calendar: brings the calendars of the hosts to the state of the booking. message: sends one message. reminder: announces that a booking starts soon.
   *
   * `GET /scheduler-queue/jobs`
   */
  listJobs(query?: Query<'listSchedulerJobs'>, options?: RequestOptions): PagedList<List<'listSchedulerJobs', 'jobs'>, Result<'listSchedulerJobs'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/scheduler-queue/jobs`,
      query,
    }
    return listPages(this.#client, request, 'jobs', options)
  }

  /**
   * Run a job now
   *
   * Also one that failed or was cancelled. It does nothing when the booking has changed meanwhile.
   *
   * `POST /scheduler-queue/jobs/{jobId}/retry`
   */
  retryJob(jobId: string, options?: IdempotentOptions): Promise<Result<'retrySchedulerJob'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler-queue/jobs/${jobId}/retry`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Cancel a job
   *
   * The booking stays as it is. 409 for a job that has ended.
   *
   * `POST /scheduler-queue/jobs/{jobId}/cancel`
   */
  cancelJob(jobId: string, options?: IdempotentOptions): Promise<Result<'cancelSchedulerJob'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/scheduler-queue/jobs/${jobId}/cancel`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** Webhook endpoints: addresses of your application that receive events. */
export class Endpoints {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List webhook endpoints
   *
   * `GET /webhooks/endpoints`
   */
  list(query?: Query<'listWebhookEndpoints'>, options?: RequestOptions): PagedList<List<'listWebhookEndpoints', 'endpoints'>, Result<'listWebhookEndpoints'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/webhooks/endpoints`,
      query,
    }
    return listPages(this.#client, request, 'endpoints', options)
  }

  /**
   * Create a webhook endpoint
   *
   * `POST /webhooks/endpoints`
   */
  create(body: Body<'createWebhookEndpoint'>, options?: IdempotentOptions): Promise<Result<'createWebhookEndpoint'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/webhooks/endpoints`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get a webhook endpoint
   *
   * `GET /webhooks/endpoints/{endpointId}`
   */
  get(endpointId: string, options?: RequestOptions): Promise<Result<'getWebhookEndpoint'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/webhooks/endpoints/${endpointId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Update a webhook endpoint
   *
   * `PUT /webhooks/endpoints/{endpointId}`
   */
  update(endpointId: string, body?: Body<'updateWebhookEndpoint'>, options?: RequestOptions): Promise<Result<'updateWebhookEndpoint'>> {
    const request: ApiRequest = {
      method: 'PUT',
      path: path`/webhooks/endpoints/${endpointId}`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }

  /**
   * Delete a webhook endpoint
   *
   * Cancels the waiting deliveries. The delivery history remains.
   *
   * `DELETE /webhooks/endpoints/{endpointId}`
   */
  delete(endpointId: string, options?: RequestOptions): Promise<Result<'deleteWebhookEndpoint'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/webhooks/endpoints/${endpointId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Send a test event to an endpoint
   *
   * Makes one immediate attempt, also to an inactive endpoint, and returns the delivery.
   *
   * `POST /webhooks/endpoints/{endpointId}/test`
   */
  test(endpointId: string, options?: IdempotentOptions): Promise<Result<'testWebhookEndpoint'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/webhooks/endpoints/${endpointId}/test`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Recover the events an endpoint missed
   *
   * Queues the subscribed events of a time range whose delivery failed, was cancelled or never existed, for example because the endpoint was inactive. Delivered and waiting events are not sent again. Deliveries to an inactive endpoint wait.
   *
   * `POST /webhooks/endpoints/{endpointId}/recover`
   */
  recover(endpointId: string, body: Body<'recoverWebhookEndpoint'>, options?: IdempotentOptions): Promise<Result<'recoverWebhookEndpoint'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/webhooks/endpoints/${endpointId}/recover`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Send a stored message to the endpoints subscribed to message.received
   *
   * Makes one attempt per endpoint. The body contains "test": true. Endpoints not reached within 20 seconds are sent to in the background. Returns the first 200 deliveries; GET /webhooks/deliveries lists all.
   *
   * `POST /webhooks/test-message`
   */
  sendTestMessage(body: Body<'sendTestMessage'>, options?: IdempotentOptions): Promise<Result<'sendTestMessage'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/webhooks/test-message`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Send a sample event to the endpoints subscribed to its type
   *
   * Makes one attempt per endpoint. The body contains "test": true. Event streams receive it too. Endpoints not reached within 20 seconds are sent to in the background. Returns the first 200 deliveries; GET /webhooks/deliveries lists all.
   *
   * `POST /webhooks/test-event`
   */
  sendTestEvent(body: Body<'sendTestEvent'>, options?: IdempotentOptions): Promise<Result<'sendTestEvent'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/webhooks/test-event`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** Webhook deliveries: one event for one endpoint, with all attempts. */
export class Deliveries {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List deliveries, newest first
   *
   * `GET /webhooks/deliveries`
   */
  list(query?: Query<'listDeliveries'>, options?: RequestOptions): PagedList<List<'listDeliveries', 'deliveries'>, Result<'listDeliveries'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/webhooks/deliveries`,
      query,
    }
    return listPages(this.#client, request, 'deliveries', options)
  }

  /**
   * Get a delivery
   *
   * `GET /webhooks/deliveries/{deliveryId}`
   */
  get(deliveryId: string, options?: RequestOptions): Promise<Result<'getDelivery'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/webhooks/deliveries/${deliveryId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Send a delivery again
   *
   * Sends the same event under the same ids, with as many attempts as the endpoint allows now. An inactive endpoint gets one immediate attempt. Failures do not count towards the circuit.
   *
   * `POST /webhooks/deliveries/{deliveryId}/retry`
   */
  retry(deliveryId: string, options?: IdempotentOptions): Promise<Result<'retryDelivery'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/webhooks/deliveries/${deliveryId}/retry`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** All recorded events. */
export class Events {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List events
   *
   * Ordered by position. An event is listed as soon as its webhook deliveries are created.
   *
   * `GET /events`
   */
  list(query?: Query<'listEvents'>, options?: RequestOptions): PagedList<List<'listEvents', 'events'>, Result<'listEvents'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/events`,
      query,
    }
    return listPages(this.#client, request, 'events', options)
  }

  /**
   * Get an event
   *
   * `GET /events/{eventId}`
   */
  get(eventId: string, options?: RequestOptions): Promise<Result<'getEvent'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/events/${eventId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Send an event to an endpoint
   *
   * Sends the event under its id, whatever the endpoint subscribes to, and again if it was sent before. A delivery to an inactive endpoint waits.
   *
   * `POST /events/{eventId}/resend`
   */
  resend(eventId: string, body: Body<'resendEvent'>, options?: IdempotentOptions): Promise<Result<'resendEvent'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/events/${eventId}/resend`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Stream events
   *
   * Server-sent events: `id` is the position, `event` the type, `data` the event as GET /events shows it. Delivered in order and at least once. Reconnect with Last-Event-ID to miss none; the service ends a stream whose client reads too slowly. A comment at least every 30 seconds keeps the connection alive. Each key may have a limited number of open streams; a further one gets 429.
   *
   * `GET /events/stream`
   */
  stream(query?: Query<'streamEvents'>, options?: StreamOptions): AsyncGenerator<Event, void, undefined> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/events/stream`,
      query,
    }
    return readStream(this.#client, request, options)
  }
}

/** Which events count as duplicates. */
export class Deduplication {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get the deduplication settings
   *
   * `GET /cursor-sync/deduplication/config`
   */
  getConfig(options?: RequestOptions): Promise<Result<'getDeduplicationConfig'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/cursor-sync/deduplication/config`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Change the deduplication settings
   *
   * Omitted members stay unchanged. Applies to new events on all replicas.
   *
   * `POST /cursor-sync/deduplication/config`
   */
  updateConfig(body?: Body<'updateDeduplicationConfig'>, options?: IdempotentOptions): Promise<Result<'updateDeduplicationConfig'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/cursor-sync/deduplication/config`,
      body: body ?? {},
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Test deduplication with an event
   *
   * isDuplicate is false for the first call and true for an equal call within ttlSeconds. Suppresses no delivery.
   *
   * `POST /cursor-sync/deduplication/test`
   */
  test(body: Body<'testDeduplication'>, options?: IdempotentOptions): Promise<Result<'testDeduplication'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/cursor-sync/deduplication/test`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** Reads the older mail of accounts in the background. */
export class HistoricalSync {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List historical syncs
   *
   * `GET /historical-sync`
   */
  list(query?: Query<'listHistoricalSyncs'>, options?: RequestOptions): PagedList<List<'listHistoricalSyncs', 'backfills'>, Result<'listHistoricalSyncs'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/historical-sync`,
      query,
    }
    return listPages(this.#client, request, 'backfills', options)
  }

  /**
   * Get the historical sync of an account
   *
   * An account that never had one is idle.
   *
   * `GET /historical-sync/{accountId}`
   */
  get(accountId: string, options?: RequestOptions): Promise<Result<'getHistoricalSync'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/historical-sync/${accountId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Start the historical sync of an account
   *
   * Reads the mail of the last timeRangeDays that is not stored yet, newest first, without message events. Changes nothing while it runs or when it is complete; continues a paused one; begins anew after failed or cancelled.
   *
   * `POST /historical-sync/start/{accountId}`
   */
  start(accountId: string, options?: IdempotentOptions): Promise<Result<'startHistoricalSync'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/historical-sync/start/${accountId}`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Pause the historical sync of an account
   *
   * Returns 409 when it is not running.
   *
   * `POST /historical-sync/pause/{accountId}`
   */
  pause(accountId: string, options?: IdempotentOptions): Promise<Result<'pauseHistoricalSync'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/historical-sync/pause/${accountId}`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Resume the historical sync of an account
   *
   * Continues a paused or failed one where it stopped. Returns 409 when there is nothing to continue.
   *
   * `POST /historical-sync/resume/{accountId}`
   */
  resume(accountId: string, options?: IdempotentOptions): Promise<Result<'resumeHistoricalSync'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/historical-sync/resume/${accountId}`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Restart the historical sync of an account
   *
   * Begins anew with the current settings, whatever its state. Stored messages are kept and not read again.
   *
   * `POST /historical-sync/restart/{accountId}`
   */
  restart(accountId: string, options?: IdempotentOptions): Promise<Result<'restartHistoricalSync'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/historical-sync/restart/${accountId}`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Cancel the historical sync of an account
   *
   * Messages read so far are kept. Returns 409 when it has not started or is complete.
   *
   * `POST /historical-sync/cancel/{accountId}`
   */
  cancel(accountId: string, options?: IdempotentOptions): Promise<Result<'cancelHistoricalSync'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/historical-sync/cancel/${accountId}`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the settings of historical syncs
   *
   * `GET /historical-sync/config`
   */
  getConfig(options?: RequestOptions): Promise<Result<'getHistoricalSyncConfig'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/historical-sync/config`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Change the settings of historical syncs
   *
   * Omitted members stay unchanged. Applies to all replicas, from the next batch on.
   *
   * `PUT /historical-sync/config`
   */
  updateConfig(body?: Body<'updateHistoricalSyncConfig'>, options?: RequestOptions): Promise<Result<'updateHistoricalSyncConfig'>> {
    const request: ApiRequest = {
      method: 'PUT',
      path: path`/historical-sync/config`,
      body: body ?? {},
    }
    return this.#client.json(request, options)
  }
}

/** Which accounts wait for a sync. */
export class DebouncedQueue {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get account sync totals
   *
   * `GET /debounced-queue/status`
   */
  getStatus(options?: RequestOptions): Promise<Result<'getDebouncedQueueStatus'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/debounced-queue/status`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the sync state of an account
   *
   * `GET /debounced-queue/accounts/{accountId}`
   */
  getAccount(accountId: string, options?: RequestOptions): Promise<Result<'getDebouncedQueueAccount'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/debounced-queue/accounts/${accountId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Sync every waiting account now
   *
   * Resets failures and retry delays. Does not affect events, deliveries, the outbox or bookings.
   *
   * `POST /debounced-queue/clear`
   */
  clear(options?: IdempotentOptions): Promise<Result<'clearDebouncedQueue'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/debounced-queue/clear`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** API keys with fewer rights. */
export class ApiKeys {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List API keys, newest first
   *
   * Without SERVICE_API_KEY. An expired key is listed until it is deleted.
   *
   * `GET /api-keys`
   */
  list(query?: Query<'listApiKeys'>, options?: RequestOptions): PagedList<List<'listApiKeys', 'apiKeys'>, Result<'listApiKeys'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/api-keys`,
      query,
    }
    return listPages(this.#client, request, 'apiKeys', options)
  }

  /**
   * Create an API key
   *
   * The response shows the key, once.
   *
   * `POST /api-keys`
   */
  create(body: Body<'createApiKey'>, options?: IdempotentOptions): Promise<Result<'createApiKey'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/api-keys`,
      body,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get an API key
   *
   * `GET /api-keys/{apiKeyId}`
   */
  get(apiKeyId: string, options?: RequestOptions): Promise<Result<'getApiKey'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/api-keys/${apiKeyId}`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Revoke an API key
   *
   * Takes effect at once, on all replicas. Open event streams of the key end within seconds.
   *
   * `DELETE /api-keys/{apiKeyId}`
   */
  revoke(apiKeyId: string, options?: RequestOptions): Promise<Result<'revokeApiKey'>> {
    const request: ApiRequest = {
      method: 'DELETE',
      path: path`/api-keys/${apiKeyId}`,
    }
    return this.#client.json(request, options)
  }
}

/** Who changed what. */
export class Audit {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List audit log entries, newest first
   *
   * Changes of keys, endpoints, accounts, deliveries, the queue, settings and experiences, and sign-ins to the portal. Kept for RETENTION_AUDIT_DAYS.
   *
   * `GET /audit`
   */
  list(query?: Query<'listAuditEntries'>, options?: RequestOptions): PagedList<List<'listAuditEntries', 'entries'>, Result<'listAuditEntries'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/audit`,
      query,
    }
    return listPages(this.#client, request, 'entries', options)
  }
}

/** The log of the service. */
export class Logs {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List log records, newest first
   *
   * Each replica keeps in memory its 2000 newest records of HTTP requests (`http.*`), and apart from them its 2000 newest records of everything else, so that requests replace no other records. The list merges those of all replicas. Later pages continue the most recent page 1 with the same filter.
   *
   * `GET /logs`
   */
  list(query?: Query<'listLogs'>, options?: RequestOptions): PagedList<List<'listLogs', 'logs'>, Result<'listLogs'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/logs`,
      query,
    }
    return listPages(this.#client, request, 'logs', options)
  }

  /**
   * Stream log records
   *
   * Server-sent events of all replicas: `event: log` with the record as GET /logs shows it, and its id. `event: dropped` with `{count}` when records were left out, because there were too many or the client read too slowly. Reconnect with Last-Event-ID to get the records in between, as far as the replicas still hold them. A comment at least every 30 seconds keeps the connection alive.
   *
   * `GET /logs/stream`
   */
  stream(query?: Query<'streamLogs'>, options?: StreamOptions): AsyncGenerator<LogEntry, void, undefined> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/logs/stream`,
      query,
    }
    return readStream(this.#client, request, options)
  }
}

/** Whether the service works. */
export class Health {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get the health of the service
   *
   * `GET /health`
   */
  get(options?: RequestOptions): Promise<Result<'getHealth'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/health`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the health of each part of the service
   *
   * `GET /health/detailed`
   */
  getDetailed(options?: RequestOptions): Promise<Result<'getDetailedHealth'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/health/detailed`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Check that the process is alive
   *
   * `GET /health/live`
   */
  getLiveness(options?: RequestOptions): Promise<Result<'getLiveness'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/health/live`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Check that the service accepts requests
   *
   * 503 while the service starts, migrates or drains, and while its database does not respond.
   *
   * `GET /health/ready`
   */
  getReadiness(options?: RequestOptions): Promise<Result<'getReadiness'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/health/ready`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Get the id of the instance that responds
   *
   * Shows whether an address leads to this installation. The id is random and no secret.
   *
   * `GET /health/instance`
   */
  getInstance(options?: RequestOptions): Promise<Result<'getInstance'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/health/instance`,
    }
    return this.#client.json(request, options)
  }
}

/** Metrics for Prometheus. */
export class Metrics {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get metrics of this instance
   *
   * In the text format of Prometheus. Scrape every instance by itself. With METRICS_PUBLIC no key is needed. docs/operations.md lists the metrics.
   *
   * `GET /metrics`
   */
  get(options?: RequestOptions): Promise<string> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/metrics`,
    }
    return this.#client.text(request, options)
  }
}

/** The settings of the service. */
export class Settings {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * List the effective settings
   *
   * Those of the instance that responds, as it read them at its start.
   *
   * `GET /settings`
   */
  list(options?: RequestOptions): Promise<Result<'listSettings'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/settings`,
    }
    return this.#client.json(request, options)
  }
}

/** The keys that seal stored secrets. */
export class EncryptionKeys {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get the ids of the encryption keys
   *
   * The keys themselves are never returned.
   *
   * `GET /encryption-keys`
   */
  list(options?: RequestOptions): Promise<Result<'listEncryptionKeys'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/encryption-keys`,
    }
    return this.#client.json(request, options)
  }

  /**
   * Add an encryption key
   *
   * Generates a key that opens secrets and does not seal yet. Only without ENCRYPTION_KEYS. Every instance knows it within seconds.
   *
   * `POST /encryption-keys`
   */
  create(options?: IdempotentOptions): Promise<Result<'createEncryptionKey'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/encryption-keys`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Seal with an encryption key
   *
   * Makes a known key the one that seals new secrets. 409 until every instance knows it.
   *
   * `POST /encryption-keys/promote`
   */
  promote(body?: Body<'promoteEncryptionKey'>, options?: IdempotentOptions): Promise<Result<'promoteEncryptionKey'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/encryption-keys/promote`,
      body: body ?? {},
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Seal stored secrets again
   *
   * Checks some hundred stored secrets and seals those again that have another key than the one that seals. Repeat it with `next` until that is null. A pass from the beginning to the end with `resealed: 0` proves that no secret has another key.
   *
   * `POST /encryption-keys/reseal`
   */
  reseal(body?: Body<'resealSecrets'>, options?: IdempotentOptions): Promise<Result<'resealSecrets'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/encryption-keys/reseal`,
      body: body ?? {},
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }
}

/** Google, Microsoft and IMAP as they are configured, and what they send to the service. */
export class Providers {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Check the settings of a provider
   *
   * Asks the provider whether it accepts the client id, the secret and the redirect address; for a name in OAUTH_PROVIDERS also whether the names of its servers resolve. Takes at most 10 s. Connects no mailbox.
   *
   * `POST /providers/{providerName}/validate`
   */
  validate(providerName: string, options?: IdempotentOptions): Promise<Result<'validateProvider'>> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/providers/${providerName}/validate`,
      takesKey: true,
      idempotencyKey: options?.idempotencyKey,
    }
    return this.#client.json(request, options)
  }

  /**
   * Receive change notifications of Microsoft Graph
   *
   * Microsoft Graph calls this path. The `clientState` of its subscription authenticates each notification.
   *
   * `POST /providers/microsoft/notifications`
   */
  receiveMicrosoftNotifications(body?: Body<'receiveMicrosoftNotifications'>, query?: Query<'receiveMicrosoftNotifications'>, options?: RequestOptions): Promise<string> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/providers/microsoft/notifications`,
      query,
      body: body ?? {},
    }
    return this.#client.text(request, options)
  }

  /**
   * Receive lifecycle notifications of Microsoft Graph
   *
   * Microsoft Graph calls this path. The `clientState` of its subscription authenticates each notification.
   *
   * `POST /providers/microsoft/notifications/lifecycle`
   */
  receiveMicrosoftLifecycleNotifications(body?: Body<'receiveMicrosoftLifecycleNotifications'>, query?: Query<'receiveMicrosoftLifecycleNotifications'>, options?: RequestOptions): Promise<string> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/providers/microsoft/notifications/lifecycle`,
      query,
      body: body ?? {},
    }
    return this.#client.text(request, options)
  }

  /**
   * Receive change notifications of Google Calendar
   *
   * Google calls this path. The message is in the headers, and the token of its channel authenticates it. A body is ignored.
   *
   * `POST /providers/gmail/notifications`
   */
  receiveGoogleCalendarNotifications(options?: RequestOptions & { xGoogChannelId?: string | undefined; xGoogResourceId?: string | undefined; xGoogChannelToken?: string | undefined; xGoogResourceState?: string | undefined }): Promise<Response> {
    const request: ApiRequest = {
      method: 'POST',
      path: path`/providers/gmail/notifications`,
      headers: { 'x-goog-channel-id': options?.xGoogChannelId, 'x-goog-resource-id': options?.xGoogResourceId, 'x-goog-channel-token': options?.xGoogChannelToken, 'x-goog-resource-state': options?.xGoogResourceState },
    }
    return this.#client.raw(request, options)
  }
}

/** The OpenAPI document of the service. */
export class Openapi {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Get this description as OpenAPI 3.1
   *
   * `GET /openapi.json`
   */
  get(options?: RequestOptions): Promise<Result<'getOpenApiDocument'>> {
    const request: ApiRequest = {
      method: 'GET',
      path: path`/openapi.json`,
    }
    return this.#client.json(request, options)
  }
}

/** Every resource of the API. */
export class Resources {
  /** Sessions of hosted authentication, in which users connect their mailboxes. */
  readonly sessions: Sessions
  /** The requests of the hosted pages, for applications that have screens of their own. */
  readonly hostedPages: HostedPages
  /** Connected mailboxes. */
  readonly accounts: Accounts
  /** Credentials with which your application opens all mailboxes of an organisation. */
  readonly connections: Connections
  /** The messages of an account. */
  readonly messages: Messages
  /** The attachments of messages. */
  readonly attachments: Attachments
  /** The conversations of an account. */
  readonly threads: Threads
  /** The drafts of an account, in sync with its Drafts folder. */
  readonly drafts: Drafts
  /** What became of sent messages. */
  readonly outbox: Outbox
  /** The labels of a gmail mailbox, or the folders of any other. */
  readonly labels: Labels
  /** The calendars of an account. */
  readonly calendars: Calendars
  /** The events of a calendar. */
  readonly calendarEvents: CalendarEvents
  /** The contacts of an account. */
  readonly contacts: Contacts
  /** The groups of contacts. */
  readonly contactGroups: ContactGroups
  /** The address books of an account, with the state of their sync. */
  readonly addressBooks: AddressBooks
  /** The free time of an account. */
  readonly availability: Availability
  /** Flows in which guests book a time of your users. */
  readonly experiences: Experiences
  /** The free times of an experience. */
  readonly slots: Slots
  /** Slots that are kept for a guest for some minutes. */
  readonly holds: Holds
  /** The bookings of guests. */
  readonly bookings: Bookings
  /** The work that follows from bookings. */
  readonly schedulerQueue: SchedulerQueue
  /** Webhook endpoints: addresses of your application that receive events. */
  readonly endpoints: Endpoints
  /** Webhook deliveries: one event for one endpoint, with all attempts. */
  readonly deliveries: Deliveries
  /** All recorded events. */
  readonly events: Events
  /** Which events count as duplicates. */
  readonly deduplication: Deduplication
  /** Reads the older mail of accounts in the background. */
  readonly historicalSync: HistoricalSync
  /** Which accounts wait for a sync. */
  readonly debouncedQueue: DebouncedQueue
  /** API keys with fewer rights. */
  readonly apiKeys: ApiKeys
  /** Who changed what. */
  readonly audit: Audit
  /** The log of the service. */
  readonly logs: Logs
  /** Whether the service works. */
  readonly health: Health
  /** Metrics for Prometheus. */
  readonly metrics: Metrics
  /** The settings of the service. */
  readonly settings: Settings
  /** The keys that seal stored secrets. */
  readonly encryptionKeys: EncryptionKeys
  /** Google, Microsoft and IMAP as they are configured, and what they send to the service. */
  readonly providers: Providers
  /** The OpenAPI document of the service. */
  readonly openapi: Openapi

  constructor(client: Client) {
    this.sessions = new Sessions(client)
    this.hostedPages = new HostedPages(client)
    this.accounts = new Accounts(client)
    this.connections = new Connections(client)
    this.messages = new Messages(client)
    this.attachments = new Attachments(client)
    this.threads = new Threads(client)
    this.drafts = new Drafts(client)
    this.outbox = new Outbox(client)
    this.labels = new Labels(client)
    this.calendars = new Calendars(client)
    this.calendarEvents = new CalendarEvents(client)
    this.contacts = new Contacts(client)
    this.contactGroups = new ContactGroups(client)
    this.addressBooks = new AddressBooks(client)
    this.availability = new Availability(client)
    this.experiences = new Experiences(client)
    this.slots = new Slots(client)
    this.holds = new Holds(client)
    this.bookings = new Bookings(client)
    this.schedulerQueue = new SchedulerQueue(client)
    this.endpoints = new Endpoints(client)
    this.deliveries = new Deliveries(client)
    this.events = new Events(client)
    this.deduplication = new Deduplication(client)
    this.historicalSync = new HistoricalSync(client)
    this.debouncedQueue = new DebouncedQueue(client)
    this.apiKeys = new ApiKeys(client)
    this.audit = new Audit(client)
    this.logs = new Logs(client)
    this.health = new Health(client)
    this.metrics = new Metrics(client)
    this.settings = new Settings(client)
    this.encryptionKeys = new EncryptionKeys(client)
    this.providers = new Providers(client)
    this.openapi = new Openapi(client)
  }
}
