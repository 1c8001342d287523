// Generated from openapi.json by `npm run generate`.

export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the health of the service */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/detailed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the health of each part of the service */
        get: operations["getDetailedHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the process is alive */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service accepts requests
         * @description 503 while the service starts, migrates or drains, and while its database does not respond.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a session
         * @description Returns a single-use link, `authUrl`. Open it in the browser of the user, who connects a mailbox there. The browser then goes to `redirectUri` with `status=success`, `accountId`, `provider`, `email` and `session`. If the user cancels or cannot go on, it has `status=cancelled` or `status=error`, `error` (a code) and `session`.
         */
        post: operations["createAuthSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the status of a session */
        get: operations["getAuthSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{code}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a session at one provider
         * @description Returns the URL to open in the browser, for applications that let users choose the provider on a page of their own. Needs the API key, or the cookie of the hosted page (GET /auth/authorize) for this session and state. With the cookie, the consent must end in the same browser.
         */
        post: operations["startAuthSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open the hosted page
         * @description The link of a session leads here. Opening it changes nothing.
         */
        get: operations["openHostedPage"];
        put?: never;
        /**
         * Choose the provider
         * @description Returns the next page: the form for a mail server, or the way to the consent page of the provider. Without a provider, the service finds the one of the address. A form needs the cookie of the page. JSON that leads to a consent page needs the API key or that cookie; with the cookie, the consent must end in the same browser.
         */
        post: operations["chooseProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/authorize/imap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect an IMAP mailbox
         * @description Signs in to the mail server. An application with a form of its own can send JSON.
         */
        post: operations["connectImapMailbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/authorize/imap/folders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List the folders of a mail server
         * @description Signs in to the mail server and returns the folders that can be connected. Connects nothing.
         */
        post: operations["listImapFolders"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/providers/{providerName}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a sign-in at a provider
         * @description The provider sends the browser of the user here. Applications do not call it.
         */
        get: operations["completeProviderSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List connections, newest first */
        get: operations["listConnections"];
        put?: never;
        /**
         * Create a connection
         * @description Stores the credentials with which your application opens all mailboxes of an organisation, after it has requested a token with them. `POST /accounts` with `connectionId` then connects mailboxes by their addresses.
         */
        post: operations["createConnection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections/{connectionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a connection */
        get: operations["getConnection"];
        put?: never;
        post?: never;
        /**
         * Delete a connection
         * @description Refused while accounts use it, unless `force` is true: then they are deleted, too.
         */
        delete: operations["deleteConnection"];
        options?: never;
        head?: never;
        /**
         * Rename a connection, or replace its secret
         * @description A new secret is stored after the provider has issued a token for it. Accounts of the connection that are in `auth_error` are then tried again.
         */
        patch: operations["updateConnection"];
        trace?: never;
    };
    "/connections/{connectionId}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of the organisation
         * @description Read from its directory, which takes a permission of its own: for microsoft the application permission `User.Read.All`, for gmail an `adminEmail` and the scope `admin.directory.user.readonly`. Without it the response is `409 consent_required`, and mailboxes are connected by their addresses. `total` counts the users up to the end of the page while there are more.
         */
        get: operations["listConnectionUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List accounts, newest first */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Connect a mailbox with its credentials, an OAuth refresh token, a connection, or the account that it is shared with
         * @description Verifies the credentials by logging in. Connecting the same mailbox with the same customUserId again updates the account. For gmail and microsoft, pass a refreshToken that was issued to the OAuth client of this service; the provider identifies its user. With connectionId and email, the mailbox is opened with the tokens of that connection, without the consent of its user. With sharedWith and mailbox, it is a shared mailbox of Microsoft 365, opened with the tokens of the user of that account.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an account */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        /**
         * Delete an account and all its data
         * @description The account disappears at once; its data is erased in the background. One account.deleted event remains.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        /** Change an account */
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/accounts/{accountId}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause an account
         * @description The service does not sync the account or keep a connection open until it is resumed.
         */
        post: operations["pauseAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused account
         * @description The next sync catches up on everything that changed meanwhile.
         */
        post: operations["resumeAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sync an account now
         * @description Returns immediately. The sync starts at once over a new connection, whatever pause the provider asked for. Tries rejected credentials once more; a paused account stays paused.
         */
        post: operations["syncAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/providers/microsoft/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive change notifications of Microsoft Graph
         * @description Microsoft Graph calls this path. The `clientState` of its subscription authenticates each notification.
         */
        post: operations["receiveMicrosoftNotifications"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/providers/microsoft/notifications/lifecycle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive lifecycle notifications of Microsoft Graph
         * @description Microsoft Graph calls this path. The `clientState` of its subscription authenticates each notification.
         */
        post: operations["receiveMicrosoftLifecycleNotifications"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages, newest first
         * @description Without labelId and mailbox: the account's main folder for imap; every message outside trash and junk for gmail and microsoft. A search (q, from, to, subject) covers every synced folder outside trash and junk, for imap, too.
         */
        get: operations["listMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/messages/{messageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a message with its body and headers
         * @description The service reads the body and the headers from the provider, unless sync.storeBodies is on.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        /**
         * Move a message to the trash, or delete it for good
         * @description A Gmail account needs the scope https://mail.google.com/ to delete for good (409 consent_required); moving to the trash does not.
         */
        delete: operations["deleteMessage"];
        options?: never;
        head?: never;
        /**
         * Mark, star, label or move a message
         * @description Changes the message at the provider, then here; the response has its new state. A message of an imap or microsoft account has exactly one label, its folder: another one moves it.
         */
        patch: operations["updateMessage"];
        trace?: never;
    };
    "/accounts/{accountId}/messages/{messageId}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download the original message (RFC 5322) from the provider */
        get: operations["downloadMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/messages/{messageId}/attachments/{attachmentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download an attachment */
        get: operations["downloadAttachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/messages/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change up to 500 messages
         * @description Returns a result for each id, in order. A failure concerns that message only. A message of an imap or microsoft account has exactly one label, its folder: another one moves it.
         */
        post: operations["updateMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/messages/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message
         * @description Accepts the message and sends it in the background, once: see the outbox. The response names the id that the message will have in Sent. With an Idempotency-Key, a repeated request sends nothing.
         */
        post: operations["sendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/outbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sent and waiting messages, newest first
         * @description Messages sent through this API. They stay in the list for 30 days.
         */
        get: operations["listOutboxMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/outbox/{outboxId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a message of the outbox */
        get: operations["getOutboxMessage"];
        put?: never;
        post?: never;
        /**
         * Cancel a message that has not been sent
         * @description Returns 409 once sending has begun.
         */
        delete: operations["cancelOutboxMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/outbox/{outboxId}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolve a message that failed or whose outcome is unknown */
        post: operations["resolveOutboxMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List threads, newest first
         * @description Threads are sorted by their newest message with the label. Without labelId: the account's main folder for imap; every message outside trash and junk for gmail and microsoft.
         */
        get: operations["listThreads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/threads/{threadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a thread with its messages, newest first
         * @description Holds the stored messages of every folder. The page parameters select among its messages.
         */
        get: operations["getThread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/tracking/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the opens, clicks and replies of a message */
        get: operations["getMessageTracking"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/drafts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List drafts, newest first
         * @description Every message in the Drafts folder, whichever program wrote it.
         */
        get: operations["listDrafts"];
        put?: never;
        /**
         * Save a draft, with its tracking values
         * @description Saves the draft at the provider, as POST /drafts does. The tracking values are not part of the draft.
         */
        post: operations["saveDraft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/drafts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save a draft
         * @description Saves a draft at the provider. With an Idempotency-Key, a request that is repeated after a failure saves it once.
         */
        post: operations["createDraft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/drafts/{draftId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a draft */
        get: operations["getDraft"];
        /**
         * Change a draft
         * @description Replaces the given fields, at the provider too. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current draft in `error.current`.
         */
        put: operations["updateDraft"];
        post?: never;
        /**
         * Delete a draft for good
         * @description Deletes it at the provider too.
         */
        delete: operations["deleteDraft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/drafts/{draftId}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a draft
         * @description Accepts the current version of the draft and sends it in the background, once: see the outbox. A change or a deletion of the draft after the request does not change what is sent; cancel the message in the outbox for that. Once it was sent, the draft is deleted, unless it was changed in between. `If-Match` as for a change.
         */
        post: operations["sendDraft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the labels or folders of an account
         * @description The labels found by the last sync, sorted by provider id.
         */
        get: operations["listLabels"];
        put?: never;
        /** Create a label or folder */
        post: operations["createLabel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/labels/{labelId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a label or folder
         * @description At Gmail its messages stay without the label. Microsoft moves a folder to Deleted Items; an IMAP server deletes it with its messages.
         */
        delete: operations["deleteLabel"];
        options?: never;
        head?: never;
        /**
         * Rename, move or colour a label
         * @description Labels below it are renamed with it. Labels of type "system" cannot be changed (409 not_supported).
         */
        patch: operations["updateLabel"];
        trace?: never;
    };
    "/accounts/{accountId}/labels/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the labels from the provider
         * @description Reads the labels from the provider now. Sync does so by itself every few minutes.
         */
        post: operations["syncLabels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/labels/cache/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear the cached labels
         * @description The next list of labels reads them from the provider first. Labels keep their ids.
         */
        post: operations["clearLabelCache"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debounced-queue/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get account sync totals */
        get: operations["getDebouncedQueueStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debounced-queue/accounts/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the sync state of an account */
        get: operations["getDebouncedQueueAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debounced-queue/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sync every waiting account now
         * @description Resets failures and retry delays. Does not affect events, deliveries, the outbox or bookings.
         */
        post: operations["clearDebouncedQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List historical syncs */
        get: operations["listHistoricalSyncs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the settings of historical syncs */
        get: operations["getHistoricalSyncConfig"];
        /**
         * Change the settings of historical syncs
         * @description Omitted members stay unchanged. Applies to all replicas, from the next batch on.
         */
        put: operations["updateHistoricalSyncConfig"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the historical sync of an account
         * @description An account that never had one is idle.
         */
        get: operations["getHistoricalSync"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/start/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start the historical sync of an account
         * @description Reads the mail of the last timeRangeDays that is not stored yet, newest first, without message events. Changes nothing while it runs or when it is complete; continues a paused one; begins anew after failed or cancelled.
         */
        post: operations["startHistoricalSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/pause/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause the historical sync of an account
         * @description Returns 409 when it is not running.
         */
        post: operations["pauseHistoricalSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/resume/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume the historical sync of an account
         * @description Continues a paused or failed one where it stopped. Returns 409 when there is nothing to continue.
         */
        post: operations["resumeHistoricalSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/restart/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart the historical sync of an account
         * @description Begins anew with the current settings, whatever its state. Stored messages are kept and not read again.
         */
        post: operations["restartHistoricalSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/historical-sync/cancel/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the historical sync of an account
         * @description Messages read so far are kept. Returns 409 when it has not started or is complete.
         */
        post: operations["cancelHistoricalSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/providers/gmail/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive change notifications of Google Calendar
         * @description Google calls this path. The message is in the headers, and the token of its channel authenticates it. A body is ignored.
         */
        post: operations["receiveGoogleCalendarNotifications"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/calendars": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the calendars of an account
         * @description The primary calendar first, then by name. Empty for an imap account without a CalDAV server. A new calendar appears within a minute; with `refresh=true` or Cache-Control: no-cache, at once.
         */
        get: operations["listCalendars"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/calendars/{calendarId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a calendar
         * @description In order of their start. Without timeMin the list begins with the first event of the calendar, without timeMax it ends with the last one, and instances of a series without an end go on until 2200. Events in the time range of the setting SYNC_CALENDAR_WINDOW are stored; other times, and any with Cache-Control: no-cache, are read from the provider. `pagination.total` is what is known so far where `totalCapped` is true.
         */
        get: operations["listCalendarEvents"];
        put?: never;
        /**
         * Create a calendar event
         * @description Creates the event at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.
         */
        post: operations["createCalendarEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find when people are available
         * @description Divides a time range into slots and says who is available in each. Confirmed and tentative events block, also invitations without an answer; cancelled, transparent and declined ones do not. Changes nothing.
         */
        post: operations["findAvailability"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/calendars/{calendarId}/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a calendar event
         * @description Of a series, its first instance with its recurrence. Read from the provider with Cache-Control: no-cache, and when no instance is in the stored time.
         */
        get: operations["getCalendarEvent"];
        put?: never;
        post?: never;
        /**
         * Delete a calendar event
         * @description Deletes the event, the series or the instance that the id names, at the provider too. With `scope=following` the series ends before the instance.
         */
        delete: operations["deleteCalendarEvent"];
        options?: never;
        head?: never;
        /**
         * Change a calendar event
         * @description Changes the given fields, at the provider too. With `scope=following` the series ends before the instance, and the response is a new series that begins with it; with `scope=all`, `start` and `end` are those of the first instance. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current event in `error.current`.
         */
        patch: operations["updateCalendarEvent"];
        trace?: never;
    };
    "/accounts/{accountId}/calendars/{calendarId}/events/{eventId}/respond": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Respond to an invitation
         * @description Accepts or declines for the account, at the provider too. `scope` is this or all. Outlook removes a declined meeting from the calendar: the response is then the event with status cancelled. 409 not_supported when the account is not invited.
         */
        post: operations["respondToCalendarEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the contacts of an account
         * @description By surname, then by the other names. Filters are combined. 409 not_supported while the setting CONTACTS_ENABLED is off.
         */
        get: operations["listContacts"];
        put?: never;
        /**
         * Create a contact
         * @description Creates the contact at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.
         */
        post: operations["createContact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/contacts/{contactId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a contact */
        get: operations["getContact"];
        put?: never;
        post?: never;
        /**
         * Delete a contact
         * @description Deletes the contact at the provider too.
         */
        delete: operations["deleteContact"];
        options?: never;
        head?: never;
        /**
         * Change a contact
         * @description Changes the given fields, at the provider too. Null empties a field, and a list replaces the list. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current contact in `error.current`.
         */
        patch: operations["updateContact"];
        trace?: never;
    };
    "/accounts/{accountId}/contact-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the groups of contacts */
        get: operations["listContactGroups"];
        put?: never;
        /**
         * Create a group of contacts
         * @description Creates the group at the provider. 409 conflict when a group has the name. 409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.
         */
        post: operations["createContactGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/address-books": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the address books of an account
         * @description Address books of CardDAV, contact folders of Outlook, and the contacts of Google, with the state of their sync.
         */
        get: operations["listAddressBooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/contacts/{contactId}/photo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the photo of a contact
         * @description As the provider has it now: a JPEG, PNG, GIF or WebP image of at most 5 MB. 404 when there is none, or when it is something else.
         */
        get: operations["getContactPhoto"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accounts/{accountId}/contact-groups/{groupId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a group of contacts
         * @description Deletes the group at the provider, too. Its contacts remain; contact.updated announces each. 409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.
         */
        delete: operations["deleteContactGroup"];
        options?: never;
        head?: never;
        /**
         * Rename a group of contacts
         * @description Renames the group at the provider, too. No event announces it. 409 conflict when another group has the name. 409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.
         */
        patch: operations["updateContactGroup"];
        trace?: never;
    };
    "/scheduler/experiences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List experiences */
        get: operations["listExperiences"];
        put?: never;
        /** Create an experience */
        post: operations["createExperience"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/experiences/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an experience
         * @description Without a key: what guests may know of an active experience; an inactive one is 404. Pages of `allowedOrigins` may request it.
         */
        get: operations["getExperience"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update an experience
         * @description Experiences are not deleted, because bookings refer to them: set `isActive` to false. Changes apply to later bookings.
         */
        patch: operations["updateExperience"];
        trace?: never;
    };
    "/scheduler/experiences/{slug}/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List slots
         * @description The slots of an active experience within a range, from its availability callback, or without one from its open hours and the calendars of its hosts. Needs no key. Pages of `allowedOrigins` may request it.
         */
        post: operations["listSlots"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/experiences/{slug}/verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a code to a guest
         * @description For experiences whose `bookingForm` has `verifyEmail`. Sends a code of six digits from the account of a host; the booking needs it as `verificationCode`, and the `verificationId` of the response beside it. It is valid for one booking, 10 minutes and 5 attempts. Without the `verificationId`, only the address of the client that requested the code may use it, and only its latest one. 429 mail_limited when too many messages went to addresses that are not verified. Needs no key.
         */
        post: operations["sendVerificationCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/experiences/{slug}/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hold a slot
         * @description Keeps the slot for five minutes, while the guest fills in the form. Book it with `holdId`.
         */
        post: operations["createHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/experiences/{slug}/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Book a slot
         * @description Asks the booking callback, which decides, then confirms the booking. Calendars and messages follow in the background. 409 slot_unavailable when the slot is taken or was refused; 409 redirected when the routing leads elsewhere.
         */
        post: operations["createBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List bookings by start */
        get: operations["listBookings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/bookings/{bookingId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a booking */
        get: operations["getBooking"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update a booking
         * @description Changes metadata and guest. Sends no messages and no events; the calendars show a new name.
         */
        patch: operations["updateBooking"];
        trace?: never;
    };
    "/scheduler/bookings/{bookingId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a booking
         * @description With an API key, or the `token` of a link. Cancelling again changes nothing.
         */
        post: operations["cancelBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/bookings/{bookingId}/reschedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a booking to another slot
         * @description With an API key, or the `token` of a link. Asks the booking callback with `previousSlot`; a refusal leaves the booking as it was.
         */
        post: operations["rescheduleBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler-queue/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the state of the booking queue */
        get: operations["getSchedulerQueueStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler-queue/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the jobs of bookings, newest first
         * @description callback: asks the booking callback again after a crash. calendar: brings the calendars of the hosts to the state of the booking. message: sends one message. reminder: announces that a booking starts soon.
         */
        get: operations["listSchedulerJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler-queue/jobs/{jobId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a job now
         * @description Also one that failed or was cancelled. It does nothing when the booking has changed meanwhile.
         */
        post: operations["retrySchedulerJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler-queue/jobs/{jobId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job
         * @description The booking stays as it is. 409 for a job that has ended.
         */
        post: operations["cancelSchedulerJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhook endpoints */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /** Create a webhook endpoint */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/endpoints/{endpointId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook endpoint */
        get: operations["getWebhookEndpoint"];
        /** Update a webhook endpoint */
        put: operations["updateWebhookEndpoint"];
        post?: never;
        /**
         * Delete a webhook endpoint
         * @description Cancels the waiting deliveries. The delivery history remains.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries, newest first */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a delivery */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{deliveryId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Sends the same event under the same ids, with as many attempts as the endpoint allows now. An inactive endpoint gets one immediate attempt. Failures do not count towards the circuit.
         */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{eventId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event to an endpoint
         * @description Sends the event under its id, whatever the endpoint subscribes to, and again if it was sent before. A delivery to an inactive endpoint waits.
         */
        post: operations["resendEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/endpoints/{endpointId}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recover the events an endpoint missed
         * @description Queues the subscribed events of a time range whose delivery failed, was cancelled or never existed, for example because the endpoint was inactive. Delivered and waiting events are not sent again. Deliveries to an inactive endpoint wait.
         */
        post: operations["recoverWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/endpoints/{endpointId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to an endpoint
         * @description Makes one immediate attempt, also to an inactive endpoint, and returns the delivery.
         */
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/test-message": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a stored message to the endpoints subscribed to message.received
         * @description Makes one attempt per endpoint. The body contains "test": true. Endpoints not reached within 20 seconds are sent to in the background. Returns the first 200 deliveries; GET /webhooks/deliveries lists all.
         */
        post: operations["sendTestMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/test-event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample event to the endpoints subscribed to its type
         * @description Makes one attempt per endpoint. The body contains "test": true. Event streams receive it too. Endpoints not reached within 20 seconds are sent to in the background. Returns the first 200 deliveries; GET /webhooks/deliveries lists all.
         */
        post: operations["sendTestEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Ordered by position. An event is listed as soon as its webhook deliveries are created.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an event */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream events
         * @description Server-sent events: `id` is the position, `event` the type, `data` the event as GET /events shows it. Delivered in order and at least once. Reconnect with Last-Event-ID to miss none; the service ends a stream whose client reads too slowly. A comment at least every 30 seconds keeps the connection alive. Each key may have a limited number of open streams; a further one gets 429.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cursor-sync/deduplication/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the deduplication settings */
        get: operations["getDeduplicationConfig"];
        put?: never;
        /**
         * Change the deduplication settings
         * @description Omitted members stay unchanged. Applies to new events on all replicas.
         */
        post: operations["updateDeduplicationConfig"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cursor-sync/deduplication/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test deduplication with an event
         * @description isDuplicate is false for the first call and true for an equal call within ttlSeconds. Suppresses no delivery.
         */
        post: operations["testDeduplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys, newest first
         * @description Without SERVICE_API_KEY. An expired key is listed until it is deleted.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The response shows the key, once.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{apiKeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an API key */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Takes effect at once, on all replicas. Open event streams of the key end within seconds.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit log entries, newest first
         * @description Changes of keys, endpoints, accounts, deliveries, the queue, settings and experiences, and sign-ins to the portal. Kept for RETENTION_AUDIT_DAYS.
         */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List log records, newest first
         * @description Each replica keeps in memory its 2000 newest records of HTTP requests (`http.*`), and apart from them its 2000 newest records of everything else, so that requests replace no other records. The list merges those of all replicas. Later pages continue the most recent page 1 with the same filter.
         */
        get: operations["listLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logs/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream log records
         * @description Server-sent events of all replicas: `event: log` with the record as GET /logs shows it, and its id. `event: dropped` with `{count}` when records were left out, because there were too many or the client read too slowly. Reconnect with Last-Event-ID to get the records in between, as far as the replicas still hold them. A comment at least every 30 seconds keeps the connection alive.
         */
        get: operations["streamLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get metrics of this instance
         * @description In the text format of Prometheus. Scrape every instance by itself. With METRICS_PUBLIC no key is needed. docs/operations.md lists the metrics.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the effective settings
         * @description Those of the instance that responds, as it read them at its start.
         */
        get: operations["listSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/instance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the id of the instance that responds
         * @description Shows whether an address leads to this installation. The id is random and no secret.
         */
        get: operations["getInstance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/providers/{providerName}/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the settings of a provider
         * @description Asks the provider whether it accepts the client id, the secret and the redirect address; for a name in OAUTH_PROVIDERS also whether the names of its servers resolve. Takes at most 10 s. Connects no mailbox.
         */
        post: operations["validateProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/encryption-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the ids of the encryption keys
         * @description The keys themselves are never returned.
         */
        get: operations["listEncryptionKeys"];
        put?: never;
        /**
         * Add an encryption key
         * @description Generates a key that opens secrets and does not seal yet. Only without ENCRYPTION_KEYS. Every instance knows it within seconds.
         */
        post: operations["createEncryptionKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/encryption-keys/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal with an encryption key
         * @description Makes a known key the one that seals new secrets. 409 until every instance knows it.
         */
        post: operations["promoteEncryptionKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/encryption-keys/reseal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal stored secrets again
         * @description Checks some hundred stored secrets and seals those again that have another key than the one that seals. Repeat it with `next` until that is null. A pass from the beginning to the end with `resealed: 0` proves that no secret has another key.
         */
        post: operations["resealSecrets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get this description as OpenAPI 3.1 */
        get: operations["getOpenApiDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            id: string;
            email: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @enum {string} */
            status: "connecting" | "syncing" | "connected" | "auth_error" | "error" | "paused";
            /** @description The application's identifier for the user. */
            customUserId: string | null;
            paused: boolean;
            /** @description Human-readable reason for the status. */
            statusReason: string | null;
            /** @description False: the service keeps no connection open and polls the mailbox every 60 s. */
            watch: boolean;
            /** @description imap: the ids of the folders (labels) that are synced besides the main one. Null: the folders for sent messages, drafts, archive, junk and trash, and those of SYNC_FOLDERS. Null for other providers, which sync all folders. */
            folders: string[] | null;
            /**
             * Format: date-time
             * @description When the last complete sync ended.
             */
            lastSyncAt: string | null;
            /** @description Describes the OAuth tokens. The tokens themselves are never returned. */
            tokens: {
                /** Format: date-time */
                expiresAt: string | null;
                scopes: string[];
                hasRefreshToken: boolean;
            };
            /** @description The account whose user opens this shared mailbox. Null: it is not shared. */
            sharedWith: string | null;
            /** @description The connection whose tokens open the mailbox. Null: the account has its own. */
            connectionId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description The provider rejected the credentials. The user must connect the mailbox again. */
        AccountAuthErrorEvent: {
            /** @constant */
            type: "account.auth_error";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.auth_error";
        });
        /** @description The provider rejected the credentials. The user must connect the mailbox again. */
        AccountAuthErrorWebhook: {
            /** @constant */
            type: "account.auth_error";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.auth_error";
        });
        /** @description A mailbox was connected. Its first sync starts now. */
        AccountConnectedEvent: {
            /** @constant */
            type: "account.connected";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.connected";
        });
        /** @description A mailbox was connected. Its first sync starts now. */
        AccountConnectedWebhook: {
            /** @constant */
            type: "account.connected";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.connected";
        });
        AccountDeletedData: {
            id: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description The application's identifier for the user. */
            customUserId: string | null;
        };
        /** @description An account was deleted and its data is being erased. It is the last event of the account. */
        AccountDeletedEvent: {
            /** @constant */
            type: "account.deleted";
            data: components["schemas"]["AccountDeletedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.deleted";
        });
        /** @description An account was deleted and its data is being erased. It is the last event of the account. */
        AccountDeletedWebhook: {
            /** @constant */
            type: "account.deleted";
            data: components["schemas"]["AccountDeletedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.deleted";
        });
        AccountEventData: {
            id: string;
            email: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @enum {string} */
            status: "connecting" | "syncing" | "connected" | "auth_error" | "error" | "paused";
            /** @description The application's identifier for the user. */
            customUserId: string | null;
            /** @description Human-readable description of the problem. */
            reason: string | null;
        };
        /** @description An account was paused. */
        AccountPausedEvent: {
            /** @constant */
            type: "account.paused";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.paused";
        });
        /** @description An account was paused. */
        AccountPausedWebhook: {
            /** @constant */
            type: "account.paused";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.paused";
        });
        /** @description The mailbox syncs again after `account.auth_error` or `account.sync_stalled`. */
        AccountRecoveredEvent: {
            /** @constant */
            type: "account.recovered";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.recovered";
        });
        /** @description The mailbox syncs again after `account.auth_error` or `account.sync_stalled`. */
        AccountRecoveredWebhook: {
            /** @constant */
            type: "account.recovered";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.recovered";
        });
        /** @description A paused account was resumed. */
        AccountResumedEvent: {
            /** @constant */
            type: "account.resumed";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.resumed";
        });
        /** @description A paused account was resumed. */
        AccountResumedWebhook: {
            /** @constant */
            type: "account.resumed";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.resumed";
        });
        /** @description The mailbox is not synced at the moment: several checks in a row failed, or none succeeded for three poll intervals. The service goes on trying. */
        AccountSyncStalledEvent: {
            /** @constant */
            type: "account.sync_stalled";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.sync_stalled";
        });
        /** @description The mailbox is not synced at the moment: several checks in a row failed, or none succeeded for three poll intervals. The service goes on trying. */
        AccountSyncStalledWebhook: {
            /** @constant */
            type: "account.sync_stalled";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.sync_stalled";
        });
        /** @description The credentials, `customUserId` or `watch` of an account changed. */
        AccountUpdatedEvent: {
            /** @constant */
            type: "account.updated";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.updated";
        });
        /** @description The credentials, `customUserId` or `watch` of an account changed. */
        AccountUpdatedWebhook: {
            /** @constant */
            type: "account.updated";
            data: components["schemas"]["AccountEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account.updated";
        });
        Address: {
            name: string;
            email: string;
        };
        AddressBook: {
            /** @description Does not change when the address book is renamed. */
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            providerId: string;
            name: string;
            /** @description False: its contacts can only be read. */
            writable: boolean;
            /** @description Whether contacts are created in it unless a request names another one. */
            default: boolean;
            /** @description How many are stored. */
            contacts: number;
            /**
             * Format: date-time
             * @description When its contacts were last known to be current. Null until the first sync is complete.
             */
            syncedAt: string | null;
            /** @description Contacts that cannot be read, entirely or in part. */
            unreadable: {
                /** @description At most 1,000. */
                count: number;
                /** @description The first 10. */
                contacts: {
                    providerContactId: string;
                    reason: string;
                }[];
            };
            /** @description Why this address book cannot be read at the moment. Null while it can be read. */
            failure: {
                reason: string;
                /**
                 * Format: date-time
                 * @description Of the first failure in a row.
                 */
                since: string;
                attempts: number;
                /** Format: date-time */
                nextAttemptAt: string;
            } | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ApiKey: {
            id: string;
            name: string;
            /** @description `write` includes `read`, and `admin` both. */
            scopes: ("read" | "write" | "admin")[];
            /** @description The last four characters of the key. */
            hint: string;
            /** @description `service` (SERVICE_API_KEY), `key:<id>`, or `admin:<user>` in the portal. */
            createdBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description At most a minute old while the key is in use.
             */
            lastUsedAt: string | null;
        };
        Attachment: {
            /** @description Identifies the attachment within its message. */
            id: string;
            filename: string;
            contentType: string;
            /** @description Size in bytes. Of large attachments over IMAP an estimate, from the encoded size. */
            size: number;
            /** @description True when the HTML body shows the attachment. */
            inline: boolean;
            /** @description The Content-ID by which the HTML refers to the attachment. */
            contentId: string | null;
        };
        AttachmentInput: {
            /** @description Required with `content`. Default for `part`: its filename. */
            filename?: string;
            /** @description With its parameters, as in `text/calendar; method=REQUEST`. Not a multipart type. Default: the type of the `part`, without parameters, else application/octet-stream. */
            contentType?: string;
            /** @description Base64. */
            content?: string;
            /** @description Instead of `content`: the name of a file part of the same request (multipart/form-data). */
            part?: string;
            /** @description Shows the attachment inside the HTML body, as `cid:` and this id. */
            contentId?: string | null;
            /** @description Instead of `content`: the message that has the attachment. With `attachmentId`. */
            messageId?: string;
            attachmentId?: string;
        } | unknown | unknown | unknown;
        AuditEntry: {
            id: string;
            /** Format: date-time */
            timestamp: string;
            /** @description `service` (SERVICE_API_KEY), `key:<id>`, `admin:<user>` in the portal, or `public` for a failed sign-in. */
            actor: string;
            action: string;
            /** @description The id of the object. */
            target: string | null;
            requestId: string | null;
            /** @description The address of the client. */
            address: string | null;
            /** @description `changed` names the members of the request. Contains no secrets. */
            details: {
                [key: string]: unknown;
            };
        };
        AuthSession: {
            /** @description Single-use code. No other response contains it. */
            code: string;
            /**
             * Format: uri
             * @description Open this URL in the end user's browser.
             */
            authUrl: string;
            /** Format: date-time */
            expiresAt: string;
            /** @enum {string|null} */
            provider: "gmail" | "microsoft" | "imap" | null;
            email: string | null;
        };
        AuthSessionStatus: {
            /**
             * @description The user can retry a failed session; completed and expired are final.
             * @enum {string}
             */
            status: "pending" | "started" | "completed" | "failed" | "expired";
            /** @enum {string|null} */
            provider: "gmail" | "microsoft" | "imap" | null;
            email: string | null;
            accountId: string | null;
            /** @description Why the last attempt failed: the code of an error. */
            failureCode: string | null;
            /** @description What is wrong with the server, if that is certain: the code of the detail. */
            failureReason: string | null;
            /** Format: date-time */
            expiresAt: string;
        };
        Availability: {
            /** @description Every slot of the time range, in order, whether anybody is available or not. */
            slots: {
                /** Format: date-time */
                start: string;
                /**
                 * Format: date-time
                 * @description Exclusive.
                 */
                end: string;
                /** @description Those that are available. */
                participants: string[];
                /** @description By participant, as named in the request. */
                participantAvailability: {
                    [key: string]: "available" | "busy" | "unknown";
                };
            }[];
            /** @description IANA name, to show the slots in. Their times are UTC. */
            timeZone: string;
            /** @description Where the busy times of each participant come from, or why they are unknown. */
            sources: {
                participant: string;
                /**
                 * @description stored: from the last sync. Null when unknown.
                 * @enum {string|null}
                 */
                source: "stored" | "provider" | null;
                /**
                 * Format: date-time
                 * @description When the busy times were last known to be current.
                 */
                syncedAt: string | null;
                /**
                 * @description not_found: no such account, calendar or address. unavailable: the provider does not show its busy times, or did not respond.
                 * @enum {string|null}
                 */
                reason: "not_found" | "unavailable" | null;
            }[];
        };
        /** @description Replaces the open hours of a date. Several of one date add up. */
        AvailabilityOverride: ({
            date: string;
            /** @description Wall clock. */
            start?: string;
            /** @description Wall clock, up to 24:00. */
            end?: string;
            /** @description True: nothing can be booked on this date. */
            closed?: boolean;
        } & {
            [key: string]: unknown;
        }) | unknown | {
            /** @constant */
            closed: true;
        };
        Backfill: {
            accountId: string;
            /** @enum {string} */
            status: "idle" | "running" | "paused" | "completed" | "failed" | "cancelled";
            /** @description Messages processed so far. */
            processed: number;
            /** @description Messages to process in the time range; null until they are counted. */
            total: number | null;
            /** @description Over about the last minute of work. */
            ratePerMinute: number | null;
            /** @description Estimate; null when unknown. */
            secondsLeft: number | null;
            /**
             * Format: date-time
             * @description receivedAt of the oldest message processed.
             */
            oldestReached: string | null;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            updatedAt: string | null;
            /** @description Human-readable: why it failed or waits, or which folders could not be read. */
            lastError: string | null;
        };
        BackfillConfig: {
            /**
             * @description False: backfills wait, also those that start.
             * @default true
             */
            enabled: boolean;
            /**
             * @description How far back a backfill reads, counted from its start. Applies to backfills that start later.
             * @default 90
             */
            timeRangeDays: number;
            /**
             * @description Messages of a batch.
             * @default 200
             */
            batchSize: number;
            /**
             * @description Milliseconds between two batches of an account.
             * @default 500
             */
            delayBetweenBatches: number;
            /**
             * @description Accounts that are read at once, on all instances together. The others wait in the order of their start.
             * @default 3
             */
            maxConcurrentAccounts: number;
        };
        BackfillConfigUpdate: {
            /** @description False: backfills wait, also those that start. */
            enabled?: boolean;
            /** @description How far back a backfill reads, counted from its start. Applies to backfills that start later. */
            timeRangeDays?: number;
            /** @description Messages of a batch. */
            batchSize?: number;
            /** @description Milliseconds between two batches of an account. */
            delayBetweenBatches?: number;
            /** @description Accounts that are read at once, on all instances together. The others wait in the order of their start. */
            maxConcurrentAccounts?: number;
        };
        BatchError: {
            code: string;
            type: string;
            message: string;
        };
        BookedSlot: {
            /** Format: date-time */
            start: string;
            /** Format: date-time */
            end: string;
            /** @description IANA name. */
            timezone: string;
            /** @description As returned by the availability callback. */
            participants: unknown[];
            /** @description As returned by the availability callback. */
            metadata: {
                [key: string]: unknown;
            };
        };
        Booking: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Why it was rejected or cancelled. Guests get it only if a person or the application wrote it. */
            reason: string | null;
            /** @enum {string|null} */
            cancelledBy: "guest" | "host" | "api" | null;
            /** @description Whether the guest gets a message with a link that confirms the address. */
            needsConfirmation: boolean;
            /** @description Whether the guest gets messages about the booking. They are sent from the account of a host: false without hosts. */
            sendsMessages: boolean;
            links: components["schemas"]["BookingLinks"];
            calendar: components["schemas"]["BookingCalendar"];
            version: number;
        };
        BookingCalendar: {
            /**
             * @description Whether the calendars of the hosts show the booking. none: no host has a calendar. failing: the service tries again. failed: it has given up, and rejected the booking.
             * @enum {string}
             */
            state: "none" | "pending" | "written" | "failing" | "failed";
            error: string | null;
        };
        BookingCancelledData: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @description host: somebody deleted the event in the calendar.
             * @enum {string}
             */
            cancelledBy: "guest" | "host" | "api";
            /** @description Human-readable. */
            reason: string | null;
        };
        /** @description A booking was cancelled. Its slot is free again. */
        BookingCancelledEvent: {
            /** @constant */
            type: "booking.cancelled";
            data: components["schemas"]["BookingCancelledData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.cancelled";
        });
        /** @description A booking was cancelled. Its slot is free again. */
        BookingCancelledWebhook: {
            /** @constant */
            type: "booking.cancelled";
            data: components["schemas"]["BookingCancelledData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.cancelled";
        });
        /** @description Use cancel and reschedule for other states and the time. */
        BookingChanges: {
            /**
             * @description Decides about a booking that your callback answered with `pending`. 409 for any other one.
             * @enum {string}
             */
            status?: "confirmed" | "rejected";
            /** @description Only with rejected: the guest reads it. */
            reason?: string;
            /** @description Only with confirmed: the link to the meeting. */
            joinUrl?: string;
            /** @description Only with confirmed: your id of the event. */
            eventId?: string;
            /** @description Replaces the stored members. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Given members replace the stored ones. The address cannot be changed: the links were sent to it. */
            guest?: {
                name?: string;
                timezone?: string;
                locale?: string;
            } & {
                [key: string]: unknown;
            };
        };
        /** @description A booking was confirmed. */
        BookingConfirmedEvent: {
            /** @constant */
            type: "booking.confirmed";
            data: components["schemas"]["BookingEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.confirmed";
        });
        /** @description A booking was confirmed. */
        BookingConfirmedWebhook: {
            /** @constant */
            type: "booking.confirmed";
            data: components["schemas"]["BookingEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.confirmed";
        });
        /** @description A guest booked a slot. The slot is blocked but not confirmed yet. */
        BookingCreatedEvent: {
            /** @constant */
            type: "booking.created";
            data: components["schemas"]["BookingEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.created";
        });
        /** @description A guest booked a slot. The slot is blocked but not confirmed yet. */
        BookingCreatedWebhook: {
            /** @constant */
            type: "booking.created";
            data: components["schemas"]["BookingEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.created";
        });
        BookingEventData: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        BookingForm: {
            title?: string;
            description?: string;
            submitButtonLabel?: string;
            fields?: components["schemas"]["BookingFormField"][];
            /**
             * @description A guest must enter a code that is sent to the address.
             * @default false
             */
            verifyEmail?: boolean;
            /** @description Chooses hosts by the answers. The first rule that matches applies. Never shown to guests. */
            routing?: components["schemas"]["RoutingRule"][];
        } & {
            [key: string]: unknown;
        };
        BookingFormField: {
            /** @description Unique. The member of `responses`. */
            name: string;
            label: string;
            /** @enum {string} */
            type: "text" | "email" | "phone" | "textarea" | "select" | "multiselect" | "checkbox";
            /** @default false */
            required?: boolean;
            placeholder?: string;
            /** @description Required for select and multiselect. */
            options?: ({
                value: string;
                label: string;
            } & {
                [key: string]: unknown;
            })[];
        } & {
            [key: string]: unknown;
        };
        BookingGuest: {
            email: string;
            name: string;
            timezone?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description Further members are kept. */
        BookingGuestInput: {
            email: string;
            name?: string;
            /** @description IANA name. Messages show times in it. */
            timezone?: string;
            /** @description Language of messages, such as en or pt-BR. */
            locale?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description For the guest: a person who has a link can use it. */
        BookingLinks: {
            reschedule: string;
            cancel: string;
            /** @description The booking as an iCalendar file. 409 unless it is confirmed. */
            calendar: string;
        };
        BookingMailLimitedData: {
            experienceSlug: string;
            /**
             * @description The budget that was used up: that of the experience, of one client, of the account of a host, or of one recipient.
             * @enum {string}
             */
            limit: "experience" | "client" | "account" | "address";
            /** @description How many messages the budget allows. */
            messages: number;
            windowHours: number;
        };
        /** @description Requests for bookings or codes are refused, because too many messages would go to addresses that nobody has verified. At most once in 24 hours per experience. */
        BookingMailLimitedEvent: {
            /** @constant */
            type: "booking.mail_limited";
            data: components["schemas"]["BookingMailLimitedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.mail_limited";
        });
        /** @description Requests for bookings or codes are refused, because too many messages would go to addresses that nobody has verified. At most once in 24 hours per experience. */
        BookingMailLimitedWebhook: {
            /** @constant */
            type: "booking.mail_limited";
            data: components["schemas"]["BookingMailLimitedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.mail_limited";
        });
        BookingRejectedData: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Human-readable. */
            reason: string | null;
        };
        /** @description A booking failed: the application rejected it or did not respond, or a calendar did not take it. */
        BookingRejectedEvent: {
            /** @constant */
            type: "booking.rejected";
            data: components["schemas"]["BookingRejectedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.rejected";
        });
        /** @description A booking failed: the application rejected it or did not respond, or a calendar did not take it. */
        BookingRejectedWebhook: {
            /** @constant */
            type: "booking.rejected";
            data: components["schemas"]["BookingRejectedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.rejected";
        });
        BookingReminderData: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Minutes between the reminder and the start. */
            minutesBefore: number;
        };
        /** @description A booking starts soon. */
        BookingReminderEvent: {
            /** @constant */
            type: "booking.reminder";
            data: components["schemas"]["BookingReminderData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.reminder";
        });
        /** @description A booking starts soon. */
        BookingReminderWebhook: {
            /** @constant */
            type: "booking.reminder";
            data: components["schemas"]["BookingReminderData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.reminder";
        });
        BookingRescheduledData: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            previousSlot: components["schemas"]["BookedSlot"];
        };
        /** @description A booking was moved to another slot. */
        BookingRescheduledEvent: {
            /** @constant */
            type: "booking.rescheduled";
            data: components["schemas"]["BookingRescheduledData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.rescheduled";
        });
        /** @description A booking was moved to another slot. */
        BookingRescheduledWebhook: {
            /** @constant */
            type: "booking.rescheduled";
            data: components["schemas"]["BookingRescheduledData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "booking.rescheduled";
        });
        BouncedRecipient: {
            email: string;
            /**
             * @description temporary: a mail server keeps retrying.
             * @enum {string}
             */
            kind: "permanent" | "temporary";
            /** @description Enhanced status code (RFC 3463). */
            status: string | null;
            /** @description The words of the mail server. */
            diagnostic: string | null;
            /** @description The delivery report. */
            reportMessageId: string;
            /** Format: date-time */
            bouncedAt: string;
        };
        Calendar: {
            /** @description Does not change when the calendar is renamed. */
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description The provider's id; requests accept it in place of `id`. */
            providerId: string;
            /** @description The name. */
            summary: string;
            description: string;
            /** @description IANA name. */
            timeZone: string;
            /** @description `#rrggbb`. */
            backgroundColor: string | null;
            /** @description `#rrggbb`. */
            foregroundColor: string | null;
            /** @enum {string} */
            accessRole: "freeBusyReader" | "reader" | "writer" | "owner";
            primary: boolean;
            /** @description Whether the user shows it, at Google; true elsewhere. */
            selected: boolean;
            /** @description Events that cannot be read, entirely or in part. They are busy where their hours are known. */
            unreadable: {
                /** @description At most 1,000. */
                count: number;
                /** @description The first 10. */
                events: {
                    providerEventId: string;
                    reason: string;
                }[];
            };
            /** @description Why the events of this calendar cannot be read at the moment, whatever becomes of the others. Its busy times are unknown, not free. Null while they can be read. */
            failure: {
                reason: string;
                /**
                 * Format: date-time
                 * @description Of the first failure in a row.
                 */
                since: string;
                /** @description How often in a row the calendar could not be read. */
                attempts: number;
                /** Format: date-time */
                nextAttemptAt: string;
            } | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        CalendarAttendee: {
            email: string;
            displayName: string | null;
            /** @enum {string} */
            responseStatus: "needsAction" | "accepted" | "tentative" | "declined";
            optional: boolean;
            organizer: boolean;
            /** @description True for the account itself. */
            self: boolean;
        };
        CalendarEvent: {
            /** @description Of an instance of a series: `<id of the series>_<original start in UTC>`. */
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            calendarId: string;
            /** @description The provider's id; of an instance, that of its series. */
            providerEventId: string;
            /** @description UID of RFC 5545, equal in the calendars of all attendees. */
            iCalUID: string;
            summary: string;
            /** @description The first 8,192 characters. HTML where the provider has HTML. */
            description: string | null;
            location: string | null;
            start: components["schemas"]["CalendarEventTime"];
            end: components["schemas"]["CalendarEventTime"];
            /** @enum {string} */
            status: "confirmed" | "tentative" | "cancelled";
            /** @description False: others see the time as free. */
            busy: boolean;
            /** @enum {string} */
            visibility: "default" | "public" | "private" | "confidential";
            organizer: {
                email: string;
                displayName: string | null;
            } | null;
            attendees: components["schemas"]["CalendarAttendee"][];
            /** @description RRULE, RDATE and EXDATE lines (RFC 5545) of a series; empty for its instances and single events. */
            recurrence: string[];
            /** @description The series to which the event belongs. */
            recurringEventId: string | null;
            /** @description When the instance would start if it had not been moved. */
            originalStart: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            reminders: {
                /** @enum {string} */
                method: "popup" | "email";
                minutes: number;
            }[];
            /** @description Shows the event on the provider's site. */
            htmlLink: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description At least one field to change. Absent ones keep their value, null empties a field, and a list replaces the stored one. */
        CalendarEventChanges: {
            /** @description One line. */
            summary?: string;
            /** @description Plain text. Google shows HTML in it. */
            description?: string | null;
            /** @description One line. */
            location?: string | null;
            start?: components["schemas"]["CalendarEventTimeInput"];
            end?: components["schemas"]["CalendarEventTimeInput"];
            /** @description RRULE, RDATE and EXDATE lines (RFC 5545), one RRULE at most. microsoft takes one RRULE that Outlook can repeat, and nothing else. */
            recurrence?: string[] | null;
            /** @description Replaces the stored list. Attendees who stay keep their responses. */
            attendees?: {
                email: string;
                displayName?: string | null;
                /** @default false */
                optional?: boolean;
            }[] | null;
            /** @description Null: those of the calendar. microsoft has one, of method popup. */
            reminders?: {
                /** @enum {string} */
                method: "popup" | "email";
                /** @description Before the start. */
                minutes: number;
            }[] | null;
            /** @description False: others see the time as free. */
            busy?: boolean;
            /**
             * @description microsoft has no public events.
             * @enum {string}
             */
            visibility?: "default" | "public" | "private" | "confidential";
            /** @description True: adds a link to Google Meet or Microsoft Teams, unless there is one. imap has none. False changes nothing. When the provider creates none, `joinUrl` is null and `warnings` says so. */
            conference?: boolean;
        };
        /** @description An event was added to a calendar. Of a series, its instances have no events of their own. */
        CalendarEventCreatedEvent: {
            /** @constant */
            type: "calendar.event.created";
            data: components["schemas"]["CalendarEvent"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "calendar.event.created";
        });
        /** @description An event was added to a calendar. Of a series, its instances have no events of their own. */
        CalendarEventCreatedWebhook: {
            /** @constant */
            type: "calendar.event.created";
            data: components["schemas"]["CalendarEvent"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "calendar.event.created";
        });
        /** @description A calendar event, or one instance of a series, was deleted. `data` holds its last known state, with status cancelled. */
        CalendarEventDeletedEvent: {
            /** @constant */
            type: "calendar.event.deleted";
            data: components["schemas"]["CalendarEvent"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "calendar.event.deleted";
        });
        /** @description A calendar event, or one instance of a series, was deleted. `data` holds its last known state, with status cancelled. */
        CalendarEventDeletedWebhook: {
            /** @constant */
            type: "calendar.event.deleted";
            data: components["schemas"]["CalendarEvent"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "calendar.event.deleted";
        });
        CalendarEventTime: {
            /**
             * Format: date-time
             * @description In UTC; absent for all-day events.
             */
            dateTime?: string;
            /**
             * Format: date
             * @description The day, for all-day events only.
             */
            date?: string;
            /** @description IANA name of the time zone in which the event was created. */
            timeZone: string | null;
        };
        CalendarEventTimeInput: {
            /** @description RFC 3339 with an offset, in whole seconds; absent for all-day events. */
            dateTime?: string;
            /** @description The day, for all-day events only. That of the end is exclusive: the day after the last one. */
            date?: string;
            /** @description IANA name of the zone in which the event is shown and repeated. Default: that of the calendar. */
            timeZone?: string | null;
        } & (unknown | unknown);
        /** @description A calendar event or one instance of a series was moved or changed, or an attendee responded. */
        CalendarEventUpdatedEvent: {
            /** @constant */
            type: "calendar.event.updated";
            data: components["schemas"]["CalendarEvent"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "calendar.event.updated";
        });
        /** @description A calendar event or one instance of a series was moved or changed, or an attendee responded. */
        CalendarEventUpdatedWebhook: {
            /** @constant */
            type: "calendar.event.updated";
            data: components["schemas"]["CalendarEvent"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "calendar.event.updated";
        });
        CallbackEndpoint: {
            /** @description HTTPS URL. Plain http is allowed only for hosts that PRIVATE_TARGETS covers. */
            url: string;
            /**
             * @default POST
             * @enum {string}
             */
            method?: "POST" | "PUT" | "PATCH";
            /** @description Sent with each request. Stored encrypted; reads show `***` instead of the values, and `***` keeps the stored value. */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Signs the requests (Standard Webhooks) instead of the `callbackSecret` of the experience. `whsec_…` is base64; any other text is used as its UTF-8 bytes. Reads show `***`, and `***` keeps the stored secret. */
            secret?: string | null;
        } & {
            [key: string]: unknown;
        };
        CancelBooking: {
            /** @description The other side reads it. */
            reason?: string;
            /** @description The `token` of a link of the booking, instead of an API key. */
            token?: string;
        };
        ChangedCalendarEvent: {
            /** @description Of an instance of a series: `<id of the series>_<original start in UTC>`. */
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            calendarId: string;
            /** @description The provider's id; of an instance, that of its series. */
            providerEventId: string;
            /** @description UID of RFC 5545, equal in the calendars of all attendees. */
            iCalUID: string;
            summary: string;
            /** @description The first 8,192 characters. HTML where the provider has HTML. */
            description: string | null;
            location: string | null;
            start: components["schemas"]["CalendarEventTime"];
            end: components["schemas"]["CalendarEventTime"];
            /** @enum {string} */
            status: "confirmed" | "tentative" | "cancelled";
            /** @description False: others see the time as free. */
            busy: boolean;
            /** @enum {string} */
            visibility: "default" | "public" | "private" | "confidential";
            organizer: {
                email: string;
                displayName: string | null;
            } | null;
            attendees: components["schemas"]["CalendarAttendee"][];
            /** @description RRULE, RDATE and EXDATE lines (RFC 5545) of a series; empty for its instances and single events. */
            recurrence: string[];
            /** @description The series to which the event belongs. */
            recurringEventId: string | null;
            /** @description When the instance would start if it had not been moved. */
            originalStart: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            reminders: {
                /** @enum {string} */
                method: "popup" | "email";
                minutes: number;
            }[];
            /** @description Shows the event on the provider's site. */
            htmlLink: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description What was requested and the provider did not do, although it accepted the request. Mostly absent. */
            warnings?: string[];
        };
        Check: {
            name: string;
            /** @description False when the check failed. */
            ok: boolean;
            /**
             * @description skipped: the check does not apply, or the provider does not reveal the result.
             * @enum {string}
             */
            status: "ok" | "warning" | "failed" | "skipped";
            message: string;
            /** @description What to do about it. */
            remedy: string | null;
        };
        Connection: {
            id: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft";
            /** @enum {string} */
            kind: "tenant";
            name: string;
            /** @description For microsoft. */
            tenantId: string | null;
            /** @description For microsoft the application id, for gmail the number to enter in the admin console of Google. */
            clientId: string | null;
            /** @description Of the certificate. Null with a client secret. */
            thumbprint: string | null;
            /** @description For gmail. */
            serviceAccountEmail: string | null;
            /** @description For gmail: the id of the key of the service account. */
            keyId: string | null;
            /** @description For gmail: on whose behalf the directory is read. */
            adminEmail: string | null;
            /** @description A client secret or a private key is stored. Secrets are never returned. */
            hasSecret: boolean;
            /**
             * @description `auth_error`: the provider refused the credentials when a token was last requested.
             * @enum {string}
             */
            status: "connected" | "auth_error";
            /** @description Why, and what to do. */
            statusReason: string | null;
            /** @description The accounts that use the connection. */
            accountCount: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        Contact: {
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /**
             * @description address_book: a contact of the account. inbox: a person with whom it has exchanged messages.
             * @enum {string}
             */
            source: "address_book" | "inbox";
            /** @description Null for `inbox`. */
            addressBookId: string | null;
            /** @description The provider's id. Null for `inbox`. */
            providerContactId: string | null;
            /** @description As the provider shows the contact. */
            displayName: string | null;
            prefix: string | null;
            givenName: string | null;
            middleName: string | null;
            surname: string | null;
            suffix: string | null;
            nickname: string | null;
            /** @description `1985-04-12`, or `--04-12` without the year. */
            birthday: string | null;
            companyName: string | null;
            department: string | null;
            jobTitle: string | null;
            managerName: string | null;
            officeLocation: string | null;
            /** @description Plain text, the first 8,192 characters. */
            notes: string | null;
            /** @description The preferred one first. */
            emails: {
                email: string;
                /** @description `work`, `home`, `mobile`, `other` or the word of the provider; may be empty. */
                type: string;
            }[];
            phoneNumbers: {
                number: string;
                /** @description `work`, `home`, `mobile`, `other` or the word of the provider; may be empty. */
                type: string;
            }[];
            physicalAddresses: {
                /** @description `work`, `home`, `mobile`, `other` or the word of the provider; may be empty. */
                type: string;
                streetAddress: string;
                city: string;
                postalCode: string;
                state: string;
                country: string;
            }[];
            webPages: {
                url: string;
                /** @description `work`, `home`, `mobile`, `other` or the word of the provider; may be empty. */
                type: string;
            }[];
            imAddresses: {
                imAddress: string;
                /** @description The service, such as `skype`. */
                type: string;
            }[];
            groups: {
                id: string;
                name: string;
            }[];
            /** @description The path of the photo. Null when there is none; it may be 404 where the provider does not say. */
            photoUrl: string | null;
            /** @description Null for `address_book`. */
            interactions: {
                /** @description Messages to the person. */
                sent: number;
                /** @description Messages from the person. */
                received: number;
                /**
                 * Format: date-time
                 * @description Of the latest of them.
                 */
                lastAt: string;
            } | null;
            version: number;
            /**
             * Format: date-time
             * @description When the service stored it.
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description A contact was added to an address book. */
        ContactCreatedEvent: {
            /** @constant */
            type: "contact.created";
            data: components["schemas"]["Contact"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contact.created";
        });
        /** @description A contact was added to an address book. */
        ContactCreatedWebhook: {
            /** @constant */
            type: "contact.created";
            data: components["schemas"]["Contact"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contact.created";
        });
        /** @description A contact was deleted, or its address book was. `data` holds its last known state. */
        ContactDeletedEvent: {
            /** @constant */
            type: "contact.deleted";
            data: components["schemas"]["Contact"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contact.deleted";
        });
        /** @description A contact was deleted, or its address book was. `data` holds its last known state. */
        ContactDeletedWebhook: {
            /** @constant */
            type: "contact.deleted";
            data: components["schemas"]["Contact"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contact.deleted";
        });
        ContactGroup: {
            id: string;
            accountId: string;
            name: string;
            /**
             * @description listed: the provider lists it. object: it is an object of an address book that lists its members. category: a word on its contacts, with which it exists.
             * @enum {string}
             */
            kind: "listed" | "object" | "category";
            memberCount: number;
            /** @description Whether it can be renamed and deleted. */
            writable: boolean;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description A contact was changed, joined a group or left one. */
        ContactUpdatedEvent: {
            /** @constant */
            type: "contact.updated";
            data: components["schemas"]["Contact"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contact.updated";
        });
        /** @description A contact was changed, joined a group or left one. */
        ContactUpdatedWebhook: {
            /** @constant */
            type: "contact.updated";
            data: components["schemas"]["Contact"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "contact.updated";
        });
        CreateApiKey: {
            /** @description Says which program uses the key. */
            name: string;
            /** @description `read` for requests that read, `write` for changes, `admin` for API keys, the audit log and settings. `write` includes `read`, and `admin` both. */
            scopes: ("read" | "write" | "admin")[];
            /**
             * Format: date-time
             * @description Default: never.
             */
            expiresAt?: string | null;
        };
        CreatedApiKey: {
            id: string;
            name: string;
            /** @description `write` includes `read`, and `admin` both. */
            scopes: ("read" | "write" | "admin")[];
            /** @description The last four characters of the key. */
            hint: string;
            /** @description `service` (SERVICE_API_KEY), `key:<id>`, or `admin:<user>` in the portal. */
            createdBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description At most a minute old while the key is in use.
             */
            lastUsedAt: string | null;
            /** @description The key. It is not stored, so this is the only response with it. */
            key: string;
        };
        DebouncedQueueAccount: {
            accountId: string;
            /** @enum {string} */
            state: "idle" | "waiting" | "active";
            /** @description Planned runs: 0 or 1, because several requests are merged into one run. */
            pending: number;
            /** Format: date-time */
            lastRunAt: string | null;
            /** Format: date-time */
            nextRunAt: string | null;
            /** @description Consecutive failures. */
            attempts: number;
            lastError: string | null;
            /** @description Messages and folders that the provider does not return, although it returns others. Everything else is synced. */
            unreadable: {
                count: number;
                /** @description At most 20, those that have failed the longest first. */
                items: components["schemas"]["UnreadableItem"][];
            };
            /** @description How long the next successful check is overdue; 0 while the account is checked on time. null while no check is expected (paused, auth_error), and when another instance owns the account. */
            lagMs: number | null;
            /**
             * @description How the service learns of changes: the server reports them over an open connection (idle) or by notifications (push), or the service asks for them (poll). null while it is not connected, and when another instance owns the account.
             * @enum {string|null}
             */
            watch: "idle" | "push" | "poll" | null;
        };
        DebouncedQueueStatus: {
            /** @enum {string} */
            provider: "database" | "redis";
            /** @description Accounts due now. */
            waiting: number;
            /** @description Accounts syncing now. */
            active: number;
            /** @description Accounts waiting for their next poll or for a retry. */
            delayed: number;
            /** @description Successful runs since the running instances started. */
            completed: number;
            /** @description Failed runs since the running instances started. */
            failed: number;
            /** @description Always false. */
            paused: boolean;
            /** @description Accounts owned by the running instances. */
            accounts: number;
        };
        DeduplicationConfig: {
            /** @default true */
            enabled: boolean;
            /**
             * @description Events that are equal in all of these fields are duplicates. Allowed: `accountId`, `eventType`, `provider`, `objectId`, `version`, and `data.<path>`, such as `data.from.email`. Any other name means a member of the data: `subject` is `data.subject`.
             * @default [
             *       "accountId",
             *       "eventType",
             *       "objectId",
             *       "version"
             *     ]
             */
            keyFields: string[];
            /**
             * @description Seconds for which an event suppresses its duplicates. Rounded.
             * @default 300
             */
            ttlSeconds: number;
        };
        DeduplicationConfigUpdate: {
            enabled?: boolean;
            /** @description Events that are equal in all of these fields are duplicates. Allowed: `accountId`, `eventType`, `provider`, `objectId`, `version`, and `data.<path>`, such as `data.from.email`. Any other name means a member of the data: `subject` is `data.subject`. */
            keyFields?: string[];
            /** @description Seconds for which an event suppresses its duplicates. Rounded. */
            ttlSeconds?: number;
        };
        DeduplicationTest: {
            accountId: string;
            eventType: string;
            provider: string;
            objectId?: string;
            version?: number;
            data?: {
                [key: string]: unknown;
            };
        };
        DetailedHealth: {
            /**
             * @description degraded when a required part is down; the status code remains 200.
             * @enum {string}
             */
            status: "healthy" | "degraded";
            services: {
                database: boolean;
                cache: boolean;
                queue: boolean;
                pubsub: boolean;
            };
            version: string;
            instance: string;
            /** @enum {string} */
            phase: "starting" | "migrating" | "ready" | "draining";
            /** Format: date-time */
            startedAt: string;
            uptimeSeconds: number;
            database: {
                healthy: boolean;
                latencyMs: number;
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
                /** @enum {string} */
                engine: "sqlite" | "postgres";
            };
            cache: {
                healthy: boolean;
                latencyMs: number;
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
                /** @enum {string} */
                provider: "memory" | "redis";
            };
            queue: {
                healthy: boolean;
                latencyMs: number;
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
                /** @enum {string} */
                provider: "database" | "redis";
            };
            rateLimiter: {
                healthy: boolean;
                latencyMs: number;
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
                /** @enum {string} */
                provider: "memory" | "redis";
            };
            pubsub: {
                healthy: boolean;
                latencyMs: number;
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
                /** @enum {string} */
                provider: "memory" | "postgres" | "redis";
            };
            search: {
                healthy: boolean;
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
            };
            gmailPush: {
                configured: boolean;
                ready: boolean;
                /** @enum {string} */
                mode: "push" | "polling";
                problem?: string;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
            };
            onboarding: {
                /** @description True when a mailbox can be connected now. */
                canProceed: boolean;
                reasons: ("no_provider" | "licence_full" | "database_unavailable" | "settings_invalid" | "oauth_incomplete" | "redirect_refused")[];
            };
            license: {
                plan: string;
                /** @description null without a limit. */
                effectiveAccountLimit: number | null;
                /** @description null while the database does not respond. */
                currentAccounts: number | null;
            };
            /** @description The time zone database of this instance: the newest of those that are at hand. */
            timeZones: {
                /** @enum {string} */
                source: "shipped" | "system" | "runtime";
                version: string;
                /**
                 * Format: date
                 * @description When this version, or an older one, was packaged.
                 */
                released: string;
            };
            /** @description Running instances; null while the database does not respond. */
            instances: number | null;
            sync: {
                /** @description Without a successful check in three intervals. */
                stalledAccounts: number;
                /** @description That no running instance owns. */
                unownedAccounts: number;
                /** @description How long the check of an account is overdue, at most. */
                greatestLagMs: number;
            } | null;
            outbox: {
                /** @description Messages to send, counted up to 10,000. */
                waiting: number;
                /** @description How long the oldest has waited, in milliseconds; null when nothing waits. */
                oldestAgeMs: number | null;
                /** @description Messages of which it is unknown whether they were sent. */
                uncertain: number;
            } | null;
            deliveries: {
                /** @description Webhook deliveries that wait for an attempt, counted up to 10,000. */
                waiting: number;
                /** @description How long the oldest has waited, in milliseconds; null when nothing waits. */
                oldestAgeMs: number | null;
            } | null;
            events: {
                /** @description Events that have no deliveries yet, counted up to 10,000. */
                waiting: number;
                /** @description How long the oldest has waited, in milliseconds; null when nothing waits. */
                oldestAgeMs: number | null;
            } | null;
            /** @description How late the event loop of this instance was in the last minute. */
            eventLoop: {
                meanMs: number;
                p99Ms: number;
                maxMs: number;
            };
            /** @description The export of the log over OTLP, and the records lost since the start. */
            logExport: {
                enabled: boolean;
                dropped: number;
            };
            providers: {
                name: string;
                canConnect: boolean;
                /** @description What an operator can do, in one line. Absent while healthy. */
                remedy?: string;
                /** @description Register exactly this URI at the provider. */
                redirectUri?: string;
            }[];
            memory: {
                /** @description What the process uses of its limit. */
                percentage: number;
                /**
                 * @description The limit that the process reaches first: rssBytes that of the container, or heapUsedBytes that of the heap.
                 * @enum {string}
                 */
                limit: "container" | "heap";
                limitBytes: number;
                rssBytes: number;
                heapUsedBytes: number;
            };
            warnings: {
                code: string;
                message: string;
                remedy: string;
            }[];
        };
        DirectoryUser: {
            /** @description The provider's id of the user. */
            id: string;
            email: string;
            name: string;
            /** @description The account of this connection with this address. */
            accountId: string | null;
        };
        Done: {
            success: boolean;
            message: string;
        };
        Draft: {
            id: string;
            accountId: string;
            /** @description The message that is the draft, in the Drafts folder. */
            messageId: string;
            /** @description The sender. Null: the draft names none, and is sent from the account. */
            from: string | null;
            /** @description The recipients. */
            to: string[];
            /** @description Copies. */
            cc: string[];
            /** @description Copies that other recipients do not see. */
            bcc: string[];
            subject: string;
            /** @description Plain text, or HTML with `isHtml`. */
            body: string;
            /** @description True when the body is HTML. */
            isHtml: boolean;
            /** @description Download them with the messageId: `GET /accounts/{accountId}/messages/{messageId}/attachments/{id}`. */
            attachments: components["schemas"]["Attachment"][];
            /** @description The id of the draft at Gmail or Graph; for imap its Message-ID. It stays the same when the draft is edited. */
            providerDraftId: string;
            /** @description Increases with every change. Send it as `If-Match` with a PUT. */
            version: number;
            /**
             * Format: date-time
             * @description When the service stored the draft.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the draft last changed.
             */
            updatedAt: string;
        };
        /** @description Absent fields keep their value, and so does everything of the message that has no field here; a list replaces the stored one. To keep an attachment, name it by the `messageId` of the draft and its `attachmentId`. Images that the HTML body shows stay, unless an attachment has their `contentId`. */
        DraftChanges: {
            /** @description The sender, as for `POST /accounts/{accountId}/messages/send`: the account's address, or another one that it may send from. */
            from?: string;
            /** @description The recipients. */
            to?: string[];
            /** @description Copies. */
            cc?: string[];
            /** @description Copies that other recipients do not see. */
            bcc?: string[];
            subject?: string;
            /** @description Plain text, or HTML with `isHtml`. */
            body?: string;
            /** @description True when the body is HTML. */
            isHtml?: boolean;
            /** @description At most 25 MB together. */
            attachments?: components["schemas"]["AttachmentInput"][];
        };
        /** @description A draft was added to Drafts, by this API or another client. */
        DraftCreatedEvent: {
            /** @constant */
            type: "draft.created";
            data: components["schemas"]["DraftEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "draft.created";
        });
        /** @description A draft was added to Drafts, by this API or another client. */
        DraftCreatedWebhook: {
            /** @constant */
            type: "draft.created";
            data: components["schemas"]["DraftEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "draft.created";
        });
        /** @description A draft was deleted or sent. `data` holds its last known state. */
        DraftDeletedEvent: {
            /** @constant */
            type: "draft.deleted";
            data: components["schemas"]["DraftEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "draft.deleted";
        });
        /** @description A draft was deleted or sent. `data` holds its last known state. */
        DraftDeletedWebhook: {
            /** @constant */
            type: "draft.deleted";
            data: components["schemas"]["DraftEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "draft.deleted";
        });
        DraftEventData: {
            id: string;
            /** @description For imap: EMAILID where the server supports it. Otherwise folder id, UIDVALIDITY and UID, which change when the message moves. */
            providerMessageId: string;
            /** @description Shared by all messages of a conversation. For imap it may change without an event, when an older message joins two threads. The old id continues to work in paths. */
            threadId: string | null;
            /** @description The Message-ID header. */
            messageId: string | null;
            /** @description The In-Reply-To header. */
            inReplyTo: string | null;
            /** @description From the References header, oldest first. */
            references: string[];
            subject: string;
            from: components["schemas"]["Address"] | null;
            to: components["schemas"]["Address"][];
            cc: components["schemas"]["Address"][];
            bcc: components["schemas"]["Address"][];
            replyTo: components["schemas"]["Address"][];
            /**
             * Format: date-time
             * @description The Date header; null when it is missing or invalid.
             */
            date: string | null;
            /**
             * Format: date-time
             * @description When the mail server received the message.
             */
            receivedAt: string;
            /** @description The first characters of the text. */
            snippet: string;
            /** @description Ids of its labels; for imap and microsoft, of its folder. */
            labelIds: string[];
            unread: boolean;
            starred: boolean;
            /** @description True when the message has an attachment that is not inline. */
            hasAttachments: boolean;
            attachments: components["schemas"]["Attachment"][];
            /** @description Size in bytes. */
            size: number;
            /** @description Which part of the message could not be read or stored; null without a problem. */
            error: string | null;
            /**
             * Format: date-time
             * @description When the service stored the message.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the stored message last changed.
             */
            updatedAt: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description The folder of the message: its path for imap, otherwise its name. Null for gmail messages that have only labels, such as archived ones. */
            folder: string | null;
            /** @description Only for new messages, with the setting `webhooks.includeBodies`. */
            body?: {
                text: string | null;
                html: string | null;
            };
            /** @description True when the body was omitted or lists were shortened to stay below 256 KB. */
            truncated?: boolean;
            /** @description Id of the draft in this API, whichever program wrote it. */
            draftId: string;
        };
        DraftSaveResult: {
            success: boolean;
            result: {
                success: boolean;
                /** @description The id that the message has, or will have in Sent. */
                messageId: string;
                tracking: components["schemas"]["TrackingResult"];
                /** @description The draft. */
                draftId: string;
                /** @description The provider's id of the message. */
                providerMessageId: string;
            };
        };
        /** @description A draft was changed. */
        DraftUpdatedEvent: {
            /** @constant */
            type: "draft.updated";
            data: components["schemas"]["DraftEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "draft.updated";
        });
        /** @description A draft was changed. */
        DraftUpdatedWebhook: {
            /** @constant */
            type: "draft.updated";
            data: components["schemas"]["DraftEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "draft.updated";
        });
        DroppedLogEntries: {
            /** @description Records that the stream left out. */
            count: number;
        };
        EncryptionKeys: {
            /** @description The key that seals new secrets on this instance. */
            primaryKeyId: string;
            /** @description The key that seals first. */
            keyIds: string[];
            /** @description False when ENCRYPTION_KEYS sets the keys. */
            isGenerated: boolean;
            /** @description The running instances. `keyIds` is empty until an instance has reported its keys. */
            instances: {
                id: string;
                /** @description The key that seals first. */
                keyIds: string[];
            }[];
        };
        Error: {
            /** @constant */
            success: false;
            error: {
                code: string;
                /** @description The party that failed: api (the caller), provider, callback or server. */
                type: string;
                message: string;
                /** @description The description of this code. */
                docUrl: string;
                details: {
                    path: string;
                    message: string;
                    /**
                     * @description What is wrong with a value that a guest enters, or with a mail or calendar server, so that a page can explain it.
                     * @enum {string}
                     */
                    code?: "required" | "too_long" | "invalid_email" | "invalid_phone" | "invalid_option" | "invalid_characters" | "contains_link" | "wrong_code" | "certificate_self_signed" | "certificate_untrusted" | "certificate_expired" | "certificate_not_yet_valid" | "certificate_wrong_host" | "starttls_not_offered" | "encryption_required" | "no_password_login" | "no_oauth_login";
                }[];
                /** @description With redirected: where a guest continues. */
                redirectUrl?: string;
                /** @description With a stale If-Match: the object as it is now. */
                current?: Record<string, never>;
            };
            requestId: string;
        };
        Event: components["schemas"]["AccountConnectedEvent"] | components["schemas"]["AccountUpdatedEvent"] | components["schemas"]["AccountAuthErrorEvent"] | components["schemas"]["AccountSyncStalledEvent"] | components["schemas"]["AccountRecoveredEvent"] | components["schemas"]["AccountPausedEvent"] | components["schemas"]["AccountResumedEvent"] | components["schemas"]["AccountDeletedEvent"] | components["schemas"]["MessageReceivedEvent"] | components["schemas"]["MessageSentEvent"] | components["schemas"]["MessageUpdatedEvent"] | components["schemas"]["MessageDeletedEvent"] | components["schemas"]["DraftCreatedEvent"] | components["schemas"]["DraftUpdatedEvent"] | components["schemas"]["DraftDeletedEvent"] | components["schemas"]["MailboxChangedEvent"] | components["schemas"]["MessageSendFailedEvent"] | components["schemas"]["MessageBouncedEvent"] | components["schemas"]["MessageOpenedEvent"] | components["schemas"]["MessageLinkClickedEvent"] | components["schemas"]["MessageRepliedEvent"] | components["schemas"]["SyncBackfillStartedEvent"] | components["schemas"]["SyncBackfillProgressEvent"] | components["schemas"]["SyncBackfillCompletedEvent"] | components["schemas"]["SyncBackfillFailedEvent"] | components["schemas"]["CalendarEventCreatedEvent"] | components["schemas"]["CalendarEventUpdatedEvent"] | components["schemas"]["CalendarEventDeletedEvent"] | components["schemas"]["ContactCreatedEvent"] | components["schemas"]["ContactUpdatedEvent"] | components["schemas"]["ContactDeletedEvent"] | components["schemas"]["BookingCreatedEvent"] | components["schemas"]["BookingConfirmedEvent"] | components["schemas"]["BookingRejectedEvent"] | components["schemas"]["BookingRescheduledEvent"] | components["schemas"]["BookingCancelledEvent"] | components["schemas"]["BookingMailLimitedEvent"] | components["schemas"]["BookingReminderEvent"] | components["schemas"]["WebhookTestEvent"] | components["schemas"]["WebhookEndpointDisabledEvent"];
        /** @description What all types share. */
        EventHead: {
            /** @description Position in the order of all events; the value for since and Last-Event-ID. */
            position: number;
            /** @description True for test events. */
            test: boolean;
            id: string;
            /**
             * Format: date-time
             * @description When the event was recorded.
             */
            timestamp: string;
            /** @description Changes when a field changes its meaning. */
            apiVersion: string;
            /** @description Null when the event concerns no account. */
            accountId: string | null;
            /** @enum {string|null} */
            provider: "gmail" | "microsoft" | "imap" | null;
            /** @description Number of the event within its account, without gaps. */
            sequence: number | null;
            /** @description The object that changed: a message, an account, a booking. */
            objectId: string | null;
            /** @description Number of changes of that object; the highest is the latest. */
            version: number | null;
        };
        EventResend: {
            /** @description It need not subscribe to the type of the event. */
            endpointId: string;
        };
        Experience: {
            id: string;
            /** @description Names the experience in paths and links. Cannot be changed. */
            slug: string;
            name: string;
            description: string;
            /** @description IANA name. */
            timezone: string;
            isActive: boolean;
            defaultAccountIds: string[];
            /** @description Yours. Sent to the callbacks. */
            metadata: {
                [key: string]: unknown;
            };
            availability: components["schemas"]["ExperienceAvailability"] | null;
            availabilityEndpoint: components["schemas"]["CallbackEndpoint"] | null;
            bookingEndpoint: components["schemas"]["CallbackEndpoint"] | null;
            routingEndpoint: components["schemas"]["CallbackEndpoint"] | null;
            bookingForm: components["schemas"]["BookingForm"] | null;
            ui: components["schemas"]["ExperienceUi"] | null;
            allowedOrigins: string[];
            mailLimit?: components["schemas"]["MailLimit"];
            /** @description The booking page. */
            bookingUrl: string;
            /** @description Signs the requests to endpoints without a secret of their own. Present only in the response that creates the experience. */
            callbackSecret?: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description When hosts can be booked. Without `availabilityEndpoint`, slots are made from it. */
        ExperienceAvailability: {
            /** @description IANA name. Default: that of the experience. */
            timezone?: string;
            openHours?: components["schemas"]["OpenHours"][];
            overrides?: components["schemas"]["AvailabilityOverride"][];
            /** @description Free time before a booking. */
            bufferBeforeMinutes?: number;
            /** @description Free time after a booking. */
            bufferAfterMinutes?: number;
            /** @description How long before its start a slot can be booked. */
            minimumNoticeMinutes?: number;
            /** @description How many days ahead slots can be booked. */
            maximumDaysAhead?: number;
            /** @description Bookings of this experience per host and date. */
            maximumPerDay?: number;
            /** @description Between the starts of slots. Lists may ask for a multiple. Default: what a list asks for, else the duration. Rounded to whole seconds. */
            intervalMinutes?: number;
            /**
             * @description Length of a booking. Rounded to whole seconds.
             * @default 30
             */
            durationMinutes?: number;
            /** @description The lengths that a guest can choose from. */
            durations?: number[];
            /**
             * @description collective: every host must be free and takes part. round_robin: one of them.
             * @default collective
             * @enum {string}
             */
            assignment?: "collective" | "round_robin";
            /**
             * @description Which busy times a booking reads. live: the calendars at the providers, in a request of up to 5 seconds, so that nothing is booked over a meeting that was just made. stored: what the last sync found.
             * @default live
             * @enum {string}
             */
            checkCalendars?: "live" | "stored";
            /**
             * @description How long you may take to decide about a booking that your callback answered with `pending`.
             * @default 1440
             */
            decisionMinutes?: number;
            /**
             * @description When guests are reminded. Empty: never.
             * @default [
             *       1440,
             *       60
             *     ]
             */
            reminders?: number[];
            /**
             * @description True: bookings get a link to Google Meet or Microsoft Teams.
             * @default false
             */
            conference?: boolean;
            /** @description Share of the bookings of a round robin, by account id. Default 1. */
            weights?: {
                [key: string]: number;
            };
        } & {
            [key: string]: unknown;
        };
        ExperienceCreate: {
            /** @description Names the experience in paths and links. Cannot be changed. */
            slug: string;
            name: string;
            /** @default  */
            description?: string | null;
            /**
             * @description IANA name.
             * @default UTC
             */
            timezone?: string | null;
            /**
             * @description False: the experience does not exist for guests.
             * @default true
             */
            isActive?: boolean;
            /**
             * @description Ids of the accounts that are the hosts. An id whose account is deleted later remains, and its host is then never free.
             * @default []
             */
            defaultAccountIds?: string[] | null;
            /**
             * @description Null and omitted are the same.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            availability?: components["schemas"]["ExperienceAvailability"] | null;
            availabilityEndpoint?: components["schemas"]["CallbackEndpoint"] | null;
            bookingEndpoint?: components["schemas"]["CallbackEndpoint"] | null;
            routingEndpoint?: components["schemas"]["CallbackEndpoint"] | null;
            bookingForm?: components["schemas"]["BookingForm"] | null;
            ui?: components["schemas"]["ExperienceUi"] | null;
            /**
             * @description Origins of pages that may embed the booking page and call the public endpoints, such as `https://app.example.com`; `*` allows every origin.
             * @default []
             */
            allowedOrigins?: string[] | null;
        };
        /** @description Appearance of the booking page and the widget. */
        ExperienceUi: {
            theme?: unknown;
            layout?: unknown;
            copy?: unknown;
            /** @description Who is shown beside the experience: `name`, `title`, and `photo`, a `data:` URL of a PNG, JPEG or WebP image. */
            host?: unknown;
        } & {
            [key: string]: unknown;
        };
        /** @description Omitted members stay as they are; null clears. Nested objects and lists are replaced as a whole. */
        ExperienceUpdate: {
            name?: string;
            description?: string | null;
            /** @description IANA name. */
            timezone?: string | null;
            /** @description False: the experience does not exist for guests. */
            isActive?: boolean;
            /** @description Ids of the accounts that are the hosts. An id whose account is deleted later remains, and its host is then never free. */
            defaultAccountIds?: string[] | null;
            /** @description Null and omitted are the same. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            availability?: components["schemas"]["ExperienceAvailability"] | null;
            availabilityEndpoint?: components["schemas"]["CallbackEndpoint"] | null;
            bookingEndpoint?: components["schemas"]["CallbackEndpoint"] | null;
            routingEndpoint?: components["schemas"]["CallbackEndpoint"] | null;
            bookingForm?: components["schemas"]["BookingForm"] | null;
            ui?: components["schemas"]["ExperienceUi"] | null;
            /** @description Origins of pages that may embed the booking page and call the public endpoints, such as `https://app.example.com`; `*` allows every origin. */
            allowedOrigins?: string[] | null;
        };
        GuestBooking: {
            id: string;
            experienceSlug: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
            slot: components["schemas"]["BookedSlot"];
            guest: components["schemas"]["BookingGuest"];
            /** @description Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages. */
            guestVerified: boolean;
            attendees: {
                [key: string]: unknown;
            }[];
            /** @description Answers of the guest in the booking form. */
            responses: {
                [key: string]: unknown;
            };
            /** @description Set by the application. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The calendar event, once it exists. */
            eventId: string | null;
            /** @description Link to the video conference. */
            joinUrl: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Why it was rejected or cancelled. Guests get it only if a person or the application wrote it. */
            reason: string | null;
            /** @enum {string|null} */
            cancelledBy: "guest" | "host" | "api" | null;
            /** @description Whether the guest gets a message with a link that confirms the address. */
            needsConfirmation: boolean;
            /** @description Whether the guest gets messages about the booking. They are sent from the account of a host: false without hosts. */
            sendsMessages: boolean;
            links: components["schemas"]["BookingLinks"];
        };
        Health: {
            /**
             * @description degraded when a required part is down; the status code remains 200.
             * @enum {string}
             */
            status: "healthy" | "degraded";
            services: {
                database: boolean;
                cache: boolean;
                queue: boolean;
                pubsub: boolean;
            };
            cache: {
                /** @enum {string} */
                provider: "memory" | "redis";
            };
            queue: {
                /** @enum {string} */
                provider: "database" | "redis";
            };
            pubsub: {
                /** @enum {string} */
                provider: "memory" | "postgres" | "redis";
            };
            gmailPush: {
                configured: boolean;
                ready: boolean;
                /** @enum {string} */
                mode: "push" | "polling";
            };
            onboarding: {
                /** @description True when a mailbox can be connected now. */
                canProceed: boolean;
                reasons: ("no_provider" | "licence_full" | "database_unavailable" | "settings_invalid" | "oauth_incomplete" | "redirect_refused")[];
            };
            license: {
                plan: string;
                /** @description null without a limit. */
                effectiveAccountLimit: number | null;
                /** @description null while the database does not respond. */
                currentAccounts: number | null;
            };
            memory: {
                /** @description What the process uses of its limit. */
                percentage: number;
            };
            warnings: string[];
        };
        Hold: {
            id: string;
            slot: components["schemas"]["BookedSlot"];
            /**
             * Format: date-time
             * @description Until then nobody else can book the slot.
             */
            expiresAt: string;
        };
        InvitationResponse: {
            /** @enum {string} */
            response: "accepted" | "tentative" | "declined";
            /** @description Plain text for the organizer. */
            comment?: string;
        };
        Label: {
            /** @description Does not change when the folder is renamed. */
            id: string;
            accountId: string;
            /** @description The full name: the path for imap, otherwise the names of its parents and its own, joined by "/". */
            name: string;
            /** @description The last segment of the name, unless the API set another one. */
            displayName: string;
            color: string | null;
            /** @description The provider's id; requests accept it in place of `id`. */
            providerId: string;
            /** @enum {string} */
            type: "system" | "user";
            /** @description inbox, sent, drafts, trash, junk, archive, all or flagged. */
            role: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description Send it as the `slot` of a booking. */
        ListedSlot: {
            /** Format: date-time */
            start: string;
            /**
             * Format: date-time
             * @description Exclusive.
             */
            end: string;
            /** @description IANA name. */
            timezone: string;
            /** @description Ids of accounts, or what the availability callback returned. */
            participants: unknown[];
            /** @description As returned by the availability callback. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Proves that the availability callback returned this slot. Send it back unchanged. */
            token?: string;
        };
        LogEntry: {
            id: string;
            /** @enum {string} */
            level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
            message: string;
            /** Format: date-time */
            timestamp: string;
            accountId: string | null;
            provider: string | null;
            operation: string | null;
            requestId: string | null;
            durationMs: number | null;
            error: {
                [key: string]: unknown;
            } | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            /** @description The process that wrote the record. */
            instance: string;
        };
        /** @description Present while requests of the last 24 hours were refused, because too many messages would have gone to addresses that nobody has verified. */
        MailLimit: {
            /**
             * @description The budget that was used up.
             * @enum {string}
             */
            limit: "experience" | "client" | "account" | "address";
            /**
             * Format: date-time
             * @description When the first request was refused.
             */
            limitedAt: string;
            refusedRequests: number;
        };
        MailboxChangedData: {
            /** @description Path of the folder or name of the label. */
            folder: string;
            labelId: string;
            /** @description Messages that arrived, including those moved here. */
            added: number;
            updated: number;
            /** @description Messages that were deleted or moved elsewhere. */
            deleted: number;
        };
        /** @description The messages of a folder changed. Sent once per folder and sync. */
        MailboxChangedEvent: {
            /** @constant */
            type: "mailbox.changed";
            data: components["schemas"]["MailboxChangedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mailbox.changed";
        });
        /** @description The messages of a folder changed. Sent once per folder and sync. */
        MailboxChangedWebhook: {
            /** @constant */
            type: "mailbox.changed";
            data: components["schemas"]["MailboxChangedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "mailbox.changed";
        });
        Message: {
            id: string;
            /** @description For imap: EMAILID where the server supports it. Otherwise folder id, UIDVALIDITY and UID, which change when the message moves. */
            providerMessageId: string;
            /** @description Shared by all messages of a conversation. For imap it may change without an event, when an older message joins two threads. The old id continues to work in paths. */
            threadId: string | null;
            /** @description The Message-ID header. */
            messageId: string | null;
            /** @description The In-Reply-To header. */
            inReplyTo: string | null;
            /** @description From the References header, oldest first. */
            references: string[];
            subject: string;
            from: components["schemas"]["Address"] | null;
            to: components["schemas"]["Address"][];
            cc: components["schemas"]["Address"][];
            bcc: components["schemas"]["Address"][];
            replyTo: components["schemas"]["Address"][];
            /**
             * Format: date-time
             * @description The Date header; null when it is missing or invalid.
             */
            date: string | null;
            /**
             * Format: date-time
             * @description When the mail server received the message.
             */
            receivedAt: string;
            /** @description The first characters of the text. */
            snippet: string;
            /** @description Ids of its labels; for imap and microsoft, of its folder. */
            labelIds: string[];
            unread: boolean;
            starred: boolean;
            /** @description True when the message has an attachment that is not inline. */
            hasAttachments: boolean;
            attachments: components["schemas"]["Attachment"][];
            /** @description Size in bytes. */
            size: number;
            /** @description Which part of the message could not be read or stored; null without a problem. */
            error: string | null;
            /**
             * Format: date-time
             * @description When the service stored the message.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the stored message last changed.
             */
            updatedAt: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description The folder of the message: its path for imap, otherwise its name. Null for gmail messages that have only labels, such as archived ones. */
            folder: string | null;
        };
        MessageBouncedData: {
            /** @description Id of the sent message; null when the report names none that is known. */
            messageId: string | null;
            /** @description Id of the delivery report, which has its own `message.received` event. */
            reportMessageId: string;
            /** @description Subject of the sent message. */
            subject: string | null;
            /**
             * @description temporary: a mail server keeps retrying.
             * @enum {string}
             */
            kind: "permanent" | "temporary";
            /** @description Those whom the message did not reach, at most 50. */
            recipients: {
                email: string;
                /** @description Enhanced status code (RFC 3463). */
                status: string | null;
                /** @description Response of the mail server. */
                diagnostic: string | null;
            }[];
            /** Format: date-time */
            bouncedAt: string;
        };
        /** @description A mail server reported that it could not deliver a sent message. */
        MessageBouncedEvent: {
            /** @constant */
            type: "message.bounced";
            data: components["schemas"]["MessageBouncedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.bounced";
        });
        /** @description A mail server reported that it could not deliver a sent message. */
        MessageBouncedWebhook: {
            /** @constant */
            type: "message.bounced";
            data: components["schemas"]["MessageBouncedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.bounced";
        });
        /** @description A message was deleted from the mailbox. `data` holds its last known state. When another program deletes a message of an IMAP mailbox, the event follows ten seconds later, in case the program moves it. */
        MessageDeletedEvent: {
            /** @constant */
            type: "message.deleted";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.deleted";
        });
        /** @description A message was deleted from the mailbox. `data` holds its last known state. When another program deletes a message of an IMAP mailbox, the event follows ten seconds later, in case the program moves it. */
        MessageDeletedWebhook: {
            /** @constant */
            type: "message.deleted";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.deleted";
        });
        MessageDetail: {
            id: string;
            /** @description For imap: EMAILID where the server supports it. Otherwise folder id, UIDVALIDITY and UID, which change when the message moves. */
            providerMessageId: string;
            /** @description Shared by all messages of a conversation. For imap it may change without an event, when an older message joins two threads. The old id continues to work in paths. */
            threadId: string | null;
            /** @description The Message-ID header. */
            messageId: string | null;
            /** @description The In-Reply-To header. */
            inReplyTo: string | null;
            /** @description From the References header, oldest first. */
            references: string[];
            subject: string;
            from: components["schemas"]["Address"] | null;
            to: components["schemas"]["Address"][];
            cc: components["schemas"]["Address"][];
            bcc: components["schemas"]["Address"][];
            replyTo: components["schemas"]["Address"][];
            /**
             * Format: date-time
             * @description The Date header; null when it is missing or invalid.
             */
            date: string | null;
            /**
             * Format: date-time
             * @description When the mail server received the message.
             */
            receivedAt: string;
            /** @description The first characters of the text. */
            snippet: string;
            /** @description Ids of its labels; for imap and microsoft, of its folder. */
            labelIds: string[];
            unread: boolean;
            starred: boolean;
            /** @description True when the message has an attachment that is not inline. */
            hasAttachments: boolean;
            attachments: components["schemas"]["Attachment"][];
            /** @description Size in bytes. */
            size: number;
            /** @description Which part of the message could not be read or stored; null without a problem. */
            error: string | null;
            /**
             * Format: date-time
             * @description When the service stored the message.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the stored message last changed.
             */
            updatedAt: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description The folder of the message: its path for imap, otherwise its name. Null for gmail messages that have only labels, such as archived ones. */
            folder: string | null;
            body: components["schemas"]["MessageDetailBody"];
            headers: {
                name: string;
                value: string;
            }[];
        };
        MessageDetailBody: {
            text: string | null;
            html: string | null;
            /** @description Only with `sanitize=true`. False when the HTML is too long to be made safe; `html` is then null, so show the text. */
            sanitized?: boolean;
        };
        MessageEventData: {
            id: string;
            /** @description For imap: EMAILID where the server supports it. Otherwise folder id, UIDVALIDITY and UID, which change when the message moves. */
            providerMessageId: string;
            /** @description Shared by all messages of a conversation. For imap it may change without an event, when an older message joins two threads. The old id continues to work in paths. */
            threadId: string | null;
            /** @description The Message-ID header. */
            messageId: string | null;
            /** @description The In-Reply-To header. */
            inReplyTo: string | null;
            /** @description From the References header, oldest first. */
            references: string[];
            subject: string;
            from: components["schemas"]["Address"] | null;
            to: components["schemas"]["Address"][];
            cc: components["schemas"]["Address"][];
            bcc: components["schemas"]["Address"][];
            replyTo: components["schemas"]["Address"][];
            /**
             * Format: date-time
             * @description The Date header; null when it is missing or invalid.
             */
            date: string | null;
            /**
             * Format: date-time
             * @description When the mail server received the message.
             */
            receivedAt: string;
            /** @description The first characters of the text. */
            snippet: string;
            /** @description Ids of its labels; for imap and microsoft, of its folder. */
            labelIds: string[];
            unread: boolean;
            starred: boolean;
            /** @description True when the message has an attachment that is not inline. */
            hasAttachments: boolean;
            attachments: components["schemas"]["Attachment"][];
            /** @description Size in bytes. */
            size: number;
            /** @description Which part of the message could not be read or stored; null without a problem. */
            error: string | null;
            /**
             * Format: date-time
             * @description When the service stored the message.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the stored message last changed.
             */
            updatedAt: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description The folder of the message: its path for imap, otherwise its name. Null for gmail messages that have only labels, such as archived ones. */
            folder: string | null;
            /** @description Only for new messages, with the setting `webhooks.includeBodies`. */
            body?: {
                text: string | null;
                html: string | null;
            };
            /** @description True when the body was omitted or lists were shortened to stay below 256 KB. */
            truncated?: boolean;
        };
        MessageLinkClickedData: {
            /** @description As returned when the message was sent. */
            trackingId: string;
            /** @description Id of the sent message. */
            messageId: string;
            subject: string;
            /** Format: date-time */
            occurredAt: string;
            /** @description True when a scanner, prefetcher or proxy caused it instead of a person. */
            automated: boolean;
            /**
             * @description Why it counts as automated; null when it does not.
             * @enum {string|null}
             */
            automatedReason: "prefetch" | "apple_mail_privacy" | "gmail_image_proxy" | "scanner" | "no_user_agent" | "automatic_reply" | null;
            userAgent: string | null;
            ipAddress: string | null;
            /** @description Target of the link, as it was when the message was sent. */
            url: string;
            /** @description Clicks on any link of the message so far. */
            clickCount: number;
        };
        /** @description A recipient clicked a link in a tracked message. */
        MessageLinkClickedEvent: {
            /** @constant */
            type: "message.link_clicked";
            data: components["schemas"]["MessageLinkClickedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.link_clicked";
        });
        /** @description A recipient clicked a link in a tracked message. */
        MessageLinkClickedWebhook: {
            /** @constant */
            type: "message.link_clicked";
            data: components["schemas"]["MessageLinkClickedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.link_clicked";
        });
        MessageOpenedData: {
            /** @description As returned when the message was sent. */
            trackingId: string;
            /** @description Id of the sent message. */
            messageId: string;
            subject: string;
            /** Format: date-time */
            occurredAt: string;
            /** @description True when a scanner, prefetcher or proxy caused it instead of a person. */
            automated: boolean;
            /**
             * @description Why it counts as automated; null when it does not.
             * @enum {string|null}
             */
            automatedReason: "prefetch" | "apple_mail_privacy" | "gmail_image_proxy" | "scanner" | "no_user_agent" | "automatic_reply" | null;
            userAgent: string | null;
            ipAddress: string | null;
            /** @description Opens so far. Opens within 60 s count once. */
            openCount: number;
        };
        /** @description A recipient opened a tracked message: its pixel was loaded. */
        MessageOpenedEvent: {
            /** @constant */
            type: "message.opened";
            data: components["schemas"]["MessageOpenedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.opened";
        });
        /** @description A recipient opened a tracked message: its pixel was loaded. */
        MessageOpenedWebhook: {
            /** @constant */
            type: "message.opened";
            data: components["schemas"]["MessageOpenedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.opened";
        });
        /** @description A new message arrived in any folder except Sent, Drafts, Trash and Junk. */
        MessageReceivedEvent: {
            /** @constant */
            type: "message.received";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.received";
        });
        /** @description A new message arrived in any folder except Sent, Drafts, Trash and Junk. */
        MessageReceivedWebhook: {
            /** @constant */
            type: "message.received";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.received";
        });
        MessageRepliedData: {
            /** @description Id of the sent message. */
            messageId: string;
            /** @description Null when the message was sent without tracking. */
            trackingId: string | null;
            /** @description Id of the reply, which has its own `message.received` event. */
            replyMessageId: string;
            threadId: string | null;
            /** @description Subject of the reply. */
            subject: string;
            from: components["schemas"]["Address"] | null;
            /** Format: date-time */
            repliedAt: string;
            /** @description True for automatic replies, such as out-of-office notes. */
            automated: boolean;
        };
        /** @description Somebody replied to a sent message. */
        MessageRepliedEvent: {
            /** @constant */
            type: "message.replied";
            data: components["schemas"]["MessageRepliedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.replied";
        });
        /** @description Somebody replied to a sent message. */
        MessageRepliedWebhook: {
            /** @constant */
            type: "message.replied";
            data: components["schemas"]["MessageRepliedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.replied";
        });
        MessageSendFailedData: {
            /** @description Resolve it with `POST /outbox/{id}/resolve`. */
            outboxId: string;
            /** @description Id reserved for the message. */
            messageId: string;
            subject: string;
            to: string[];
            /**
             * @description uncertain: the connection broke during the transfer, and Sent does not contain the message.
             * @enum {string}
             */
            reason: "rejected" | "auth_expired" | "unavailable" | "uncertain";
            /** @description Human-readable description of the failure. */
            message: string;
            /** @description Number of attempts. */
            attempts: number;
            /** Format: date-time */
            failedAt: string;
        };
        /** @description Sending a message failed or its result is unknown. The service does not retry it. */
        MessageSendFailedEvent: {
            /** @constant */
            type: "message.send_failed";
            data: components["schemas"]["MessageSendFailedData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.send_failed";
        });
        /** @description Sending a message failed or its result is unknown. The service does not retry it. */
        MessageSendFailedWebhook: {
            /** @constant */
            type: "message.send_failed";
            data: components["schemas"]["MessageSendFailedData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.send_failed";
        });
        /** @description A message was added to Sent, by this API or another client. */
        MessageSentEvent: {
            /** @constant */
            type: "message.sent";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.sent";
        });
        /** @description A message was added to Sent, by this API or another client. */
        MessageSentWebhook: {
            /** @constant */
            type: "message.sent";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.sent";
        });
        /** @description A message was read, starred, labelled or moved. */
        MessageUpdatedEvent: {
            /** @constant */
            type: "message.updated";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.updated";
        });
        /** @description A message was read, starred, labelled or moved. */
        MessageUpdatedWebhook: {
            /** @constant */
            type: "message.updated";
            data: components["schemas"]["MessageEventData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.updated";
        });
        /** @description Either `slot` or `holdId` is required. */
        NewBooking: {
            slot?: components["schemas"]["SlotChoice"];
            /** @description Books the slot of this hold. */
            holdId?: string;
            guest: components["schemas"]["BookingGuestInput"];
            /** @description Other people who take part. Those with an address get the invitation, once the guest is verified. */
            attendees?: {
                [key: string]: unknown;
            }[];
            /** @description Answers in the booking form, by the name of the field. */
            responses?: {
                [key: string]: unknown;
            };
            /** @description Kept with the booking. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The code that was sent to the guest, where the form asks for one. */
            verificationCode?: string;
            /** @description Of the response to the request for the code. */
            verificationId?: string;
            /** @description Must be empty: only programs fill it in. */
            website?: string;
        } | unknown | unknown;
        NewCalendarEvent: {
            /** @description One line. */
            summary?: string;
            /** @description Plain text. Google shows HTML in it. */
            description?: string | null;
            /** @description One line. */
            location?: string | null;
            start: components["schemas"]["CalendarEventTimeInput"];
            end: components["schemas"]["CalendarEventTimeInput"];
            /** @description RRULE, RDATE and EXDATE lines (RFC 5545), one RRULE at most. microsoft takes one RRULE that Outlook can repeat, and nothing else. */
            recurrence?: string[] | null;
            /** @description Replaces the stored list. Attendees who stay keep their responses. */
            attendees?: {
                email: string;
                displayName?: string | null;
                /** @default false */
                optional?: boolean;
            }[] | null;
            /** @description Null: those of the calendar. microsoft has one, of method popup. */
            reminders?: {
                /** @enum {string} */
                method: "popup" | "email";
                /** @description Before the start. */
                minutes: number;
            }[] | null;
            /** @description False: others see the time as free. */
            busy?: boolean;
            /**
             * @description microsoft has no public events.
             * @enum {string}
             */
            visibility?: "default" | "public" | "private" | "confidential";
            /** @description True: adds a link to Google Meet or Microsoft Teams, unless there is one. imap has none. False changes nothing. When the provider creates none, `joinUrl` is null and `warnings` says so. */
            conference?: boolean;
        };
        NewCertificateConnection: {
            /** @constant */
            provider: "microsoft";
            /**
             * @description All mailboxes of an organisation.
             * @enum {string}
             */
            kind: "tenant";
            /** @description Says whose mailboxes these are. */
            name: string;
            /** @description The directory id of the tenant, or one of its domains. */
            tenantId: string;
            /** @description The application id. */
            clientId: string;
            /** @description In place of `clientSecret`: the RSA key of a certificate, in PEM form, without a passphrase. */
            privateKey: string;
            /** @description With `privateKey`: the certificate in PEM form, as it was uploaded to the application. */
            certificate: string;
        };
        NewConnectionAccount: {
            /** @description The connection that opens the mailbox. */
            connectionId: string;
            /** @description The address of the mailbox. */
            email: string;
            /**
             * @description Default: the provider of the connection.
             * @enum {string}
             */
            provider?: "gmail" | "microsoft";
            /** @description Identifies the user in your application. The same mailbox with another value is another account. */
            customUserId?: string | null;
        };
        NewDraft: {
            /** @description The sender, as for `POST /accounts/{accountId}/messages/send`: the account's address, or another one that it may send from. */
            from?: string;
            /** @description The recipients. */
            to: string[];
            /** @description Copies. */
            cc?: string[];
            /** @description Copies that other recipients do not see. */
            bcc?: string[];
            subject: string;
            /** @description Plain text, or HTML with `isHtml`. */
            body: string;
            /**
             * @description True when the body is HTML.
             * @default false
             */
            isHtml?: boolean;
            /** @description At most 25 MB together. */
            attachments?: components["schemas"]["AttachmentInput"][];
        };
        NewHold: {
            slot: components["schemas"]["SlotChoice"];
        };
        NewImapAccount: {
            /**
             * @default imap
             * @constant
             */
            provider?: "imap";
            /** @description Identifies the user in your application. The same mailbox with another value is another account. */
            customUserId?: string | null;
            /** @description The mailbox address. */
            email: string;
            /** @description The IMAP server. */
            host: string;
            /**
             * @description Of the IMAP server.
             * @default 993
             */
            port?: number | string | null;
            /** @description True: TLS from the first byte; false: STARTTLS. Default true, except on port 143. */
            secure?: boolean | string | null;
            /**
             * @description True: do not verify the certificate.
             * @default false
             */
            allowSelfSigned?: boolean | string | null;
            /** @description For the IMAP server. */
            username: string;
            /** @description Of this user, often an app password. */
            password: string;
            /**
             * @description The folder to sync. With `sharedWith`, the address of the shared mailbox.
             * @default INBOX
             */
            mailbox?: string | null;
            /** @description The service signs in to it before it connects the account. Without any SMTP field, it derives them from the IMAP server at the first send. */
            smtpHost?: string | null;
            /** @description Usually 465 or 587. */
            smtpPort?: number | string | null;
            /** @description True: TLS from the first byte; false: STARTTLS. */
            smtpSecure?: boolean | string | null;
            /** @description Default: the IMAP username. */
            smtpUsername?: string | null;
            /** @description Default: the IMAP password. */
            smtpPassword?: string | null;
            /** @description The URL of the CalDAV server. The service looks for calendars there before it connects the account. Without it, they are looked for when they are first requested. */
            caldavUrl?: string | null;
            /** @description Default: the IMAP username. */
            caldavUsername?: string | null;
            /** @description Default: the IMAP password. */
            caldavPassword?: string | null;
        };
        NewImapOAuthAccount: {
            /**
             * @default imap
             * @constant
             */
            provider?: "imap";
            /** @description Identifies the user in your application. The same mailbox with another value is another account. */
            customUserId?: string | null;
            /** @description The name in OAUTH_PROVIDERS that issued the token and has the mail servers. */
            oauthProvider: string;
            /** @description Issued to the OAuth client of this service. */
            refreshToken: string;
            /** @description The address of the mailbox, with which the service signs in. */
            email: string;
        };
        NewOAuthAccount: {
            /** @enum {string} */
            provider: "gmail" | "microsoft";
            /** @description Identifies the user in your application. The same mailbox with another value is another account. */
            customUserId?: string | null;
            /** @description Issued to the OAuth client of this service. */
            refreshToken: string;
            /** @description Must be the address of the user of the token, if given. */
            email?: string | null;
        };
        NewSecretConnection: {
            /** @constant */
            provider: "microsoft";
            /**
             * @description All mailboxes of an organisation.
             * @enum {string}
             */
            kind: "tenant";
            /** @description Says whose mailboxes these are. */
            name: string;
            /** @description The directory id of the tenant, or one of its domains. */
            tenantId: string;
            /** @description The application id. */
            clientId: string;
            /** @description The value of a client secret, not its id. */
            clientSecret: string;
        };
        NewServiceAccountConnection: {
            /** @constant */
            provider: "gmail";
            /**
             * @description All mailboxes of an organisation.
             * @enum {string}
             */
            kind: "tenant";
            /** @description Says whose mailboxes these are. */
            name: string;
            /** @description The JSON key file of a service account, as an object or as text. */
            serviceAccountKey: string | Record<string, never>;
            /** @description An administrator of the domain, on whose behalf its directory is read. */
            adminEmail?: string | null;
        };
        NewSharedAccount: {
            /** @constant */
            provider: "microsoft";
            /** @description The account of a user who may open the mailbox: its id, or its customUserId. */
            sharedWith: string;
            /** @description The address of the shared mailbox. */
            mailbox: string;
            /** @description Identifies the user in your application. The same mailbox with another value is another account. */
            customUserId?: string | null;
        };
        NewTestEvent: {
            type: string;
        };
        NewThumbprintConnection: {
            /** @constant */
            provider: "microsoft";
            /**
             * @description All mailboxes of an organisation.
             * @enum {string}
             */
            kind: "tenant";
            /** @description Says whose mailboxes these are. */
            name: string;
            /** @description The directory id of the tenant, or one of its domains. */
            tenantId: string;
            /** @description The application id. */
            clientId: string;
            /** @description In place of `clientSecret`: the RSA key of a certificate, in PEM form, without a passphrase. */
            privateKey: string;
            /** @description In place of `certificate`: its thumbprint in hexadecimal, SHA-1 or SHA-256. */
            thumbprint: string;
        };
        OpenHours: {
            /** @description Days of the week: 0 or `sunday` to 6 or `saturday`. */
            days: (number | ("sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"))[];
            /** @description Wall clock. */
            start: string;
            /** @description Wall clock, up to 24:00. An end that is not after the start is on the next day. */
            end: string;
            /** @description IANA name. Default: that of the availability, else of the experience. */
            timezone?: string;
        } & {
            [key: string]: unknown;
        };
        OutboxMessage: {
            id: string;
            accountId: string;
            /** @description The id that the message has or will have in Sent. */
            messageId: string;
            draftId: string | null;
            /**
             * @description scheduled: waits for sendAt. uncertain: the connection broke during the transfer; the service looks for the message in Sent and never sends it again by itself.
             * @enum {string}
             */
            status: "scheduled" | "queued" | "sending" | "sent" | "failed" | "uncertain" | "cancelled";
            from: components["schemas"]["Address"];
            to: components["schemas"]["Address"][];
            cc: components["schemas"]["Address"][];
            bcc: components["schemas"]["Address"][];
            subject: string;
            /** @description Bytes. */
            size: number;
            /** @description Recipients that the mail server refused. Those that it refused for now get the message later, while `nextAttemptAt` is set. */
            refused: components["schemas"]["RefusedRecipient"][];
            /** @description What delivery reports say, oldest first. A report may name addresses to which the message was forwarded. */
            bounced: components["schemas"]["BouncedRecipient"][];
            error: {
                /** @enum {string} */
                reason: "rejected" | "auth_expired" | "unavailable" | "uncertain";
                message: string;
            } | null;
            /** @description Why the copy of the sent message could not be saved in Sent. */
            copyError: {
                message: string;
                /**
                 * Format: date-time
                 * @description When the service tries again. Null: it has given up.
                 */
                nextAttemptAt: string | null;
            } | null;
            attempts: number;
            /** Format: date-time */
            sendAt: string | null;
            /**
             * Format: date-time
             * @description When the service tries to send it, or to send it again to recipients that were refused for now. Null: never.
             */
            nextAttemptAt: string | null;
            /** Format: date-time */
            sentAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        Pagination: {
            page: number;
            /** @description The effective limit. */
            limit: number;
            total: number;
            totalPages: number;
            /** @description Exact, also when total is capped. */
            hasNext: boolean;
            hasPrev: boolean;
            /** @description True when counting stopped at total; there may be more. */
            totalCapped?: boolean;
            /** @description True when a search may lack messages: some are not indexed yet, or the provider could not be searched for older ones. Its nextCursor tries again. */
            partial?: boolean;
            /**
             * @description Present when a search at the provider found these messages, which are older than those that the service has stored. `total` does not count them, and a page may have fewer than `limit`, or none.
             * @constant
             */
            source?: "provider";
            nextCursor?: string;
            nextPageToken?: string;
        };
        PromoteEncryptionKey: {
            /** @description Default: the key that was added last. */
            keyId?: string;
        };
        ProviderValidation: {
            /** @description True when the provider accepts the settings, as far as it says. */
            success: boolean;
            checks: components["schemas"]["Check"][];
        };
        PublicBookingForm: {
            title?: string;
            description?: string;
            submitButtonLabel?: string;
            fields?: components["schemas"]["BookingFormField"][];
            /**
             * @description A guest must enter a code that is sent to the address.
             * @default false
             */
            verifyEmail?: boolean;
        } & {
            [key: string]: unknown;
        };
        PublicExperience: {
            slug: string;
            name: string;
            description: string;
            timezone: string;
            bookingForm: components["schemas"]["PublicBookingForm"] | null;
            ui: components["schemas"]["ExperienceUi"] | null;
            /** @description The length of a booking if the guest chooses none. */
            durationMinutes: number;
            /** @description The lengths that a guest can choose from, in minutes. */
            durations: number[];
            /** @description Whether guests get messages: true with hosts, false without. Null: it depends on the hosts that an endpoint or a rule names. */
            sendsMessages: boolean | null;
        };
        RefusedRecipient: {
            email: string;
            /** @description The reply code of the mail server. */
            code: number | null;
            /** @description The words of the mail server. */
            diagnostic: string;
        };
        RescheduleBooking: {
            slot: components["schemas"]["SlotChoice"];
            /** @description The `token` of a link of the booking, instead of an API key. */
            token?: string;
        };
        Reseal: {
            /** @description `next` of the call before. */
            after?: string;
        };
        Resealed: {
            success: boolean;
            /** @description The key that seals. */
            keyId: string;
            /** @description Secrets that were checked. */
            checked: number;
            /** @description Of them, those that had another key and were sealed again. */
            resealed: number;
            /** @description Secrets that no key of the ring opens, and the key that they need. */
            unreadable: {
                table: string;
                id: string;
                keyId: string;
            }[];
            /** @description Pass it as `after`. Null at the end. */
            next: string | null;
        };
        /** @description Leads to hosts, to another experience, or to a page: exactly one of them. */
        RoutingRule: ({
            /** @description Either `equals` or `in`. Of a multiselect, one chosen value must match. */
            when: {
                /** @description Name of a field of the form. */
                field: string;
                equals?: string | boolean;
                in?: (string | boolean)[];
            } & {
                [key: string]: unknown;
            };
            accountIds?: string[];
            /** @description Another experience. */
            slug?: string;
            redirectUrl?: string;
        } & {
            [key: string]: unknown;
        }) & (unknown | unknown | unknown);
        SchedulerJob: {
            id: string;
            bookingId: string;
            /** @enum {string} */
            type: "callback" | "calendar" | "message" | "reminder" | "decision";
            /** @description What distinguishes jobs of one type, such as the kind of message. */
            subject: string;
            /** @enum {string} */
            status: "waiting" | "active" | "completed" | "failed" | "cancelled";
            attempts: number;
            lastError: string | null;
            /**
             * Format: date-time
             * @description When it runs next. Null once it has ended.
             */
            dueAt: string | null;
            /**
             * Format: date-time
             * @description Failed attempts are repeated until then.
             */
            giveUpAt: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        SchedulerQueueStatus: {
            /** @description Jobs in each status, each counted up to 10,000. */
            counts: {
                waiting: number;
                active: number;
                completed: number;
                failed: number;
                cancelled: number;
            };
            /**
             * Format: date-time
             * @description When the next open job is due. In the past: jobs are late.
             */
            oldestDueAt: string | null;
            /** @description For how long the oldest open job has been due. */
            lateMs: number;
        };
        SendDraft: {
            /** @description Track opens and clicks of an HTML message: insert the pixel, and lead its links through this service. Default: TRACKING_ENABLED. */
            tracking?: boolean;
            /** @description Not before this time (RFC 3339), at most a year ahead. Default: now. */
            sendAt?: string | null;
        };
        /** @description A new message, a reply to one, or a message with another one attached. */
        SendMessage: {
            /** @description Required, except for a reply: default the sender of the message, or its recipients when the account sent it. */
            to?: string[];
            /** @description Copies. */
            cc?: string[];
            /** @description Copies that other recipients do not see. */
            bcc?: string[];
            /** @description Where replies go. Default: the address of the account. */
            replyTo?: string[];
            /** @description The sender, with or without a name: `Ada Okafor <ada@example.com>`. The account's address; for gmail also an address that the user verified there (Send mail as); for microsoft also an alias, or a mailbox for which the user has Send As or Send on Behalf. Default: the account's address. */
            from?: string;
            /** @description Required, except for a reply or a forward: default Re: or Fwd:. */
            subject?: string;
            /** @description Required, except for a forward. */
            body?: string;
            /**
             * @description True when the body is HTML.
             * @default false
             */
            isHtml?: boolean;
            /** @description At most 25 MB together. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description Sends a reply to this message. */
            replyToMessageId?: string | null;
            /** @description Attaches this message, unchanged (message/rfc822). */
            forwardMessageId?: string | null;
            /** @description Further header fields. For microsoft accounts, their names must begin with X-. */
            headers?: {
                [key: string]: string;
            };
            /** @description Track opens and clicks of an HTML message: insert the pixel, and lead its links through this service. Default: TRACKING_ENABLED. */
            tracking?: boolean;
            /** @description Not before this time (RFC 3339), at most a year ahead. Default: now. */
            sendAt?: string | null;
        } | unknown | {
            replyToMessageId: string;
        } | {
            forwardMessageId: string;
        };
        SendResult: {
            success: boolean;
            result: {
                success: boolean;
                /** @description The id that the message has, or will have in Sent. */
                messageId: string;
                tracking: components["schemas"]["TrackingResult"];
            };
            outboxId: string;
            /**
             * @description scheduled: waits for sendAt. uncertain: the connection broke during the transfer; the service looks for the message in Sent and never sends it again by itself.
             * @enum {string}
             */
            status: "scheduled" | "queued" | "sending" | "sent" | "failed" | "uncertain" | "cancelled";
        };
        Setting: {
            /** @description The path in `service.config.json`. */
            name: string;
            /** @description The environment variable. */
            variable: string;
            /** @description As the variable would have it. Secrets are masked; null when the setting has no value. */
            value: string | null;
            /**
             * @description generated: the service made the secret at its first start.
             * @enum {string}
             */
            source: "environment" | "file" | "default" | "generated";
            isSecret: boolean;
            /** @description What the setting does. */
            about: string;
        };
        /** @description A listed slot as it is, or its start. A booking needs it, or a `holdId`. */
        SlotChoice: {
            start: string;
            /** @description Default: `availability.durationMinutes` after the start. */
            end?: string;
            /** @description IANA name, to show the slot in. */
            timezone?: string;
            /** @description As listed. Proves participants and metadata of the slot. */
            token?: string;
            participants?: unknown[];
            /** @description As listed. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        SlotList: {
            /** @description To book at. Another one, when the guest's answers lead there. */
            experience: {
                slug: string;
                name: string;
                timezone: string;
            };
            /**
             * Format: date-time
             * @description When the slots were found.
             */
            generatedAt: string;
            /**
             * Format: date-time
             * @description When to ask again. Null: not known.
             */
            expiresAt: string | null;
            /** @description IANA name, to show the slots in. Their times are UTC. */
            timezone: string;
            /** @description Sorted and unique. */
            slots: components["schemas"]["ListedSlot"][];
            /** @description The guest's answers lead to this page; there are no slots here. */
            redirectUrl?: string;
        };
        SlotSearch: {
            range: {
                /** @description RFC 3339 with an offset. */
                start: string;
                /** @description RFC 3339 with an offset, at most 62 days after start. Exclusive. */
                end: string;
                /** @description IANA name, as timezone below. */
                timezone?: string;
            };
            /** @description Length of a slot. Rounded to whole seconds. Longer than the range: no slots. */
            durationMinutes: number;
            /** @description Between the starts of slots. Rounded to whole seconds. Default: the duration. */
            intervalMinutes?: number;
            /** @description IANA name: of the guest, to show slots in. Default: that of the experience. */
            timezone?: string;
            /** @description Sent to the availability callback. */
            attendees?: ({
                id?: string;
                email?: string;
                displayName?: string;
            } & {
                [key: string]: unknown;
            })[];
            /** @description The guest's answers so far, by the name of the field. Routing depends on them. */
            bookingFormResponse?: {
                [key: string]: unknown;
            };
            /** @description Sent to the availability callback. */
            constraints?: {
                [key: string]: unknown;
            };
            /** @description Sent to the callbacks. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** @description The historical sync has fetched every message in its time range. lastError names folders that could not be read. */
        SyncBackfillCompletedEvent: {
            /** @constant */
            type: "sync.backfill_completed";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_completed";
        });
        /** @description The historical sync has fetched every message in its time range. lastError names folders that could not be read. */
        SyncBackfillCompletedWebhook: {
            /** @constant */
            type: "sync.backfill_completed";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_completed";
        });
        /** @description The historical sync failed. Messages fetched so far are kept, and it can be resumed. */
        SyncBackfillFailedEvent: {
            /** @constant */
            type: "sync.backfill_failed";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_failed";
        });
        /** @description The historical sync failed. Messages fetched so far are kept, and it can be resumed. */
        SyncBackfillFailedWebhook: {
            /** @constant */
            type: "sync.backfill_failed";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_failed";
        });
        /** @description The historical sync made progress. Sent from time to time, not for every batch. */
        SyncBackfillProgressEvent: {
            /** @constant */
            type: "sync.backfill_progress";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_progress";
        });
        /** @description The historical sync made progress. Sent from time to time, not for every batch. */
        SyncBackfillProgressWebhook: {
            /** @constant */
            type: "sync.backfill_progress";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_progress";
        });
        /** @description The historical sync of an account started or restarted. */
        SyncBackfillStartedEvent: {
            /** @constant */
            type: "sync.backfill_started";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_started";
        });
        /** @description The historical sync of an account started or restarted. */
        SyncBackfillStartedWebhook: {
            /** @constant */
            type: "sync.backfill_started";
            data: components["schemas"]["Backfill"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sync.backfill_started";
        });
        Thread: {
            /** @description The threadId of its messages. */
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description Of its newest message. */
            subject: string;
            /** @description Of its newest message. */
            snippet: string;
            /** @description Senders and recipients of its newest 20 messages, each once, newest first. */
            participants: components["schemas"]["Address"][];
            messageCount: number;
            unreadCount: number;
            /** @description True when one of its messages is starred. */
            starred: boolean;
            /** @description True when one of its messages has an attachment that is not inline. */
            hasAttachments: boolean;
            /** @description The labels of its messages, each once. */
            labelIds: string[];
            /**
             * Format: date-time
             * @description When the mail server received its oldest stored message.
             */
            firstMessageAt: string;
            /**
             * Format: date-time
             * @description When the mail server received its newest message.
             */
            lastMessageAt: string;
        };
        ThreadDetail: {
            /** @description The threadId of its messages. */
            id: string;
            accountId: string;
            /** @enum {string} */
            provider: "gmail" | "microsoft" | "imap";
            /** @description Of its newest message. */
            subject: string;
            /** @description Of its newest message. */
            snippet: string;
            /** @description Senders and recipients of its newest 20 messages, each once, newest first. */
            participants: components["schemas"]["Address"][];
            messageCount: number;
            unreadCount: number;
            /** @description True when one of its messages is starred. */
            starred: boolean;
            /** @description True when one of its messages has an attachment that is not inline. */
            hasAttachments: boolean;
            /** @description The labels of its messages, each once. */
            labelIds: string[];
            /**
             * Format: date-time
             * @description When the mail server received its oldest stored message.
             */
            firstMessageAt: string;
            /**
             * Format: date-time
             * @description When the mail server received its newest message.
             */
            lastMessageAt: string;
            messages: components["schemas"]["Message"][];
            pagination: components["schemas"]["Pagination"];
        };
        Tracking: {
            tracking: {
                id: string;
                /** @description Id of the sent message. */
                messageId: string;
            };
            metrics: {
                /** @description Opens, clicks and replies. */
                totalEvents: number;
                /** @description At most 1,000. Opens within 60 s count once. */
                openCount: number;
                /** @description Clicks on any link, at most 1,000. */
                clickCount: number;
                /** @description Replies that arrived in the mailbox. All are counted and announced. */
                replyCount: number;
                /** Format: date-time */
                lastEventAt: string | null;
                /** Format: date-time */
                lastOpenedAt: string | null;
                /** Format: date-time */
                lastClickedAt: string | null;
                /** Format: date-time */
                lastRepliedAt: string | null;
            };
            /** @description Newest first, at most 1,000, of which replies come before opens and clicks when there are more. */
            events: components["schemas"]["TrackingEvent"][];
        };
        TrackingEvent: {
            id: string;
            /** @enum {string} */
            type: "opened" | "link_clicked" | "replied";
            /** Format: date-time */
            occurredAt: string;
            /** @description True when a scanner, prefetcher or proxy caused it instead of a person. */
            automated: boolean;
            /**
             * @description Why it counts as automated; null when it does not.
             * @enum {string|null}
             */
            automatedReason: "prefetch" | "apple_mail_privacy" | "gmail_image_proxy" | "scanner" | "no_user_agent" | "automatic_reply" | null;
            /** @description The target of the link that was clicked. */
            url: string | null;
            /** @description Id of the reply. */
            replyMessageId: string | null;
            userAgent: string | null;
            ipAddress: string | null;
        };
        TrackingResult: {
            /** @description For `GET /messages/tracking/{id}`. */
            id: string;
            /** @description Part of the addresses of the pixel and the links. */
            token: string;
            /** @description A 1×1 image; loading it counts as an open. */
            pixelUrl: string;
            /** @description The HTML of the pixel, for a body that you track yourself. */
            snippet: string;
            /** @description Header fields of a tracked message. */
            headers: {
                [key: string]: string;
            };
            /** @description The host of the pixel and the links. */
            domain: string;
        };
        UnreadableItem: {
            /** @enum {string} */
            kind: "message" | "folder";
            /** @description The id of the message or folder at the provider. */
            providerId: string;
            /** @description Its name. null when it is not known. */
            folder: string | null;
            /** @description The last failure. */
            reason: string;
            /** @description Consecutive failures. After three, a message is stored without content. */
            failures: number;
            /**
             * Format: date-time
             * @description The first failure.
             */
            failedAt: string;
            /** Format: date-time */
            nextAttemptAt: string;
        };
        UpdateConnection: {
            /** @description Says whose mailboxes these are. */
            name?: string;
            /** @description The value of a client secret, not its id. */
            clientSecret?: string;
            /** @description In place of `clientSecret`: the RSA key of a certificate, in PEM form, without a passphrase. */
            privateKey?: string;
            /** @description With `privateKey`: the certificate in PEM form, as it was uploaded to the application. */
            certificate?: string;
            /** @description In place of `certificate`: its thumbprint in hexadecimal, SHA-1 or SHA-256. */
            thumbprint?: string;
            /** @description The JSON key file of a service account, as an object or as text. */
            serviceAccountKey?: string | Record<string, never>;
            /** @description An administrator of the domain, on whose behalf its directory is read. */
            adminEmail?: string | null;
        };
        VerificationRequest: {
            email: string;
            /** @description Must be empty: only programs fill it in. */
            website?: string;
        };
        VerificationSent: {
            success: boolean;
            message: string;
            /** @description Send it with the booking, beside the code. */
            verificationId: string;
            /**
             * Format: date-time
             * @description Until then the code is valid.
             */
            expiresAt: string;
        };
        WebhookAttempt: {
            /** @description Number of the attempt, from 1. */
            attempt: number;
            /** Format: date-time */
            startedAt: string;
            durationMs: number;
            responseStatus: number | null;
            /** @description At most 16 KB. */
            responseBody: string | null;
            error: {
                /** @description dns, refused_address, connect, tls, timeout, reset, protocol, redirect, http_status or internal. */
                kind: string;
                message: string;
            } | null;
        };
        WebhookCircuit: {
            /**
             * @description closed: deliveries are sent. open: deliveries wait without using attempts. half_open: one delivery probes the endpoint.
             * @enum {string}
             */
            state: "closed" | "open" | "half_open";
            /** Format: date-time */
            openedAt: string | null;
            /**
             * Format: date-time
             * @description When the next delivery probes the endpoint. Null while closed.
             */
            nextProbeAt: string | null;
            /** @description Failed attempts since the last success. Replays and tests do not count. */
            failures: number;
        };
        WebhookDelivery: {
            id: string;
            endpointId: string;
            /** @description Sent as the webhook-id header. */
            eventId: string;
            eventType: string;
            accountId: string | null;
            /**
             * @description retrying: the last attempt failed and another one will follow.
             * @enum {string}
             */
            status: "pending" | "retrying" | "success" | "failed" | "deduplicated" | "cancelled";
            /**
             * @description What caused the last attempt.
             * @enum {string}
             */
            trigger: "event" | "retry" | "recover" | "test" | "test-message";
            test: boolean;
            /** @description Number of attempts made. */
            attempt: number;
            maxAttempts: number;
            url: string;
            /** @description The request body. Null once the event is erased. */
            payload: components["schemas"]["WebhookEnvelope"] | null;
            /** @description Headers of the last attempt. Signatures and the values of custom headers are masked. */
            requestHeaders: {
                [key: string]: string;
            };
            responseStatus: number | null;
            /** @description At most 16 KB. */
            responseBody: string | null;
            error: {
                /** @description dns, refused_address, connect, tls, timeout, reset, protocol, redirect, http_status or internal. */
                kind: string;
                message: string;
            } | null;
            durationMs: number | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            lastAttemptAt: string | null;
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** Format: date-time */
            deliveredAt: string | null;
            attempts: components["schemas"]["WebhookAttempt"][];
        };
        WebhookEndpoint: {
            id: string;
            url: string;
            hasSecret: boolean;
            /** @description Present only in the response that creates the endpoint, if the service generated it. */
            secret?: string;
            eventTypes: string[];
            headers: {
                [key: string]: string;
            };
            /** @description While false, events create no deliveries and pending deliveries wait. */
            isActive: boolean;
            /** @description Maximum number of retries of a failed delivery. Rounded down. */
            retryCount: number;
            /** @description Delay between attempts, in milliseconds. Rounded. */
            retryDelayMs: number;
            /**
             * @description exponential doubles the delay after every attempt, up to 24 hours.
             * @enum {string}
             */
            retryStrategy: "fixed" | "exponential";
            /** @description Timeout of one attempt, in milliseconds. Rounded. */
            timeoutMs: number;
            /**
             * Format: date-time
             * @description Time of the last successful delivery.
             */
            lastDeliveryAt: string | null;
            circuit: components["schemas"]["WebhookCircuit"];
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        WebhookEndpointCreate: {
            /** @description HTTPS URL that receives the events. Plain http is allowed only for hosts that PRIVATE_TARGETS covers. */
            url: string;
            /** @description Your own identifier, except `.` and `..`, which are no part of a URL. Generated when omitted. */
            id?: string;
            /** @description Signs the payloads (Standard Webhooks). Omitted: the service generates a secret and returns it in this response only. null: deliveries are unsigned. `whsec_…` is base64; any other text is used as its UTF-8 bytes. */
            secret?: string | null;
            /**
             * @description Event types, prefixes such as `message.*`, or `*`. An empty list means all types. Duplicates are dropped. An update replaces the list.
             * @default [
             *       "message.received",
             *       "mailbox.changed"
             *     ]
             */
            eventTypes?: string[];
            /** @description Custom headers sent with each delivery. Stored encrypted; reads show `***` instead of the values. */
            headers?: {
                [key: string]: string;
            } | null;
            /**
             * @description While false, events create no deliveries and pending deliveries wait.
             * @default true
             */
            isActive?: boolean;
            /**
             * @description Maximum number of retries of a failed delivery. Rounded down.
             * @default 3
             */
            retryCount?: number;
            /**
             * @description Delay between attempts, in milliseconds. Rounded.
             * @default 1000
             */
            retryDelayMs?: number;
            /**
             * @description exponential doubles the delay after every attempt, up to 24 hours.
             * @default fixed
             * @enum {string}
             */
            retryStrategy?: "fixed" | "exponential";
            /**
             * @description Timeout of one attempt, in milliseconds. Rounded.
             * @default 30000
             */
            timeoutMs?: number;
        };
        WebhookEndpointDisabledData: {
            endpointId: string;
            url: string;
            /**
             * @description gone: the endpoint returned 410.
             * @enum {string}
             */
            reason: "gone";
            /** Format: date-time */
            disabledAt: string;
        };
        /** @description The service disabled an endpoint because of its response. Sent to the other endpoints. */
        WebhookEndpointDisabledEvent: {
            /** @constant */
            type: "webhook.endpoint_disabled";
            data: components["schemas"]["WebhookEndpointDisabledData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "webhook.endpoint_disabled";
        });
        /** @description The service disabled an endpoint because of its response. Sent to the other endpoints. */
        WebhookEndpointDisabledWebhook: {
            /** @constant */
            type: "webhook.endpoint_disabled";
            data: components["schemas"]["WebhookEndpointDisabledData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "webhook.endpoint_disabled";
        });
        WebhookEndpointUpdate: {
            /** @description HTTPS URL that receives the events. Plain http is allowed only for hosts that PRIVATE_TARGETS covers. */
            url?: string;
            /** @description Rotates the secret. The previous secret keeps signing beside the new one for 24 hours. null: deliveries are unsigned from now on. */
            secret?: string | null;
            /** @description Event types, prefixes such as `message.*`, or `*`. An empty list means all types. Duplicates are dropped. An update replaces the list. */
            eventTypes?: string[];
            /** @description Replaces all custom headers. The value `***` keeps the stored value of that header. null removes them all. */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description While false, events create no deliveries and pending deliveries wait. */
            isActive?: boolean;
            /** @description Maximum number of retries of a failed delivery. Rounded down. */
            retryCount?: number;
            /** @description Delay between attempts, in milliseconds. Rounded. */
            retryDelayMs?: number;
            /**
             * @description exponential doubles the delay after every attempt, up to 24 hours.
             * @enum {string}
             */
            retryStrategy?: "fixed" | "exponential";
            /** @description Timeout of one attempt, in milliseconds. Rounded. */
            timeoutMs?: number;
        };
        WebhookEnvelope: components["schemas"]["AccountConnectedWebhook"] | components["schemas"]["AccountUpdatedWebhook"] | components["schemas"]["AccountAuthErrorWebhook"] | components["schemas"]["AccountSyncStalledWebhook"] | components["schemas"]["AccountRecoveredWebhook"] | components["schemas"]["AccountPausedWebhook"] | components["schemas"]["AccountResumedWebhook"] | components["schemas"]["AccountDeletedWebhook"] | components["schemas"]["MessageReceivedWebhook"] | components["schemas"]["MessageSentWebhook"] | components["schemas"]["MessageUpdatedWebhook"] | components["schemas"]["MessageDeletedWebhook"] | components["schemas"]["DraftCreatedWebhook"] | components["schemas"]["DraftUpdatedWebhook"] | components["schemas"]["DraftDeletedWebhook"] | components["schemas"]["MailboxChangedWebhook"] | components["schemas"]["MessageSendFailedWebhook"] | components["schemas"]["MessageBouncedWebhook"] | components["schemas"]["MessageOpenedWebhook"] | components["schemas"]["MessageLinkClickedWebhook"] | components["schemas"]["MessageRepliedWebhook"] | components["schemas"]["SyncBackfillStartedWebhook"] | components["schemas"]["SyncBackfillProgressWebhook"] | components["schemas"]["SyncBackfillCompletedWebhook"] | components["schemas"]["SyncBackfillFailedWebhook"] | components["schemas"]["CalendarEventCreatedWebhook"] | components["schemas"]["CalendarEventUpdatedWebhook"] | components["schemas"]["CalendarEventDeletedWebhook"] | components["schemas"]["ContactCreatedWebhook"] | components["schemas"]["ContactUpdatedWebhook"] | components["schemas"]["ContactDeletedWebhook"] | components["schemas"]["BookingCreatedWebhook"] | components["schemas"]["BookingConfirmedWebhook"] | components["schemas"]["BookingRejectedWebhook"] | components["schemas"]["BookingRescheduledWebhook"] | components["schemas"]["BookingCancelledWebhook"] | components["schemas"]["BookingMailLimitedWebhook"] | components["schemas"]["BookingReminderWebhook"] | components["schemas"]["WebhookTestWebhook"] | components["schemas"]["WebhookEndpointDisabledWebhook"];
        /** @description What all types share. */
        WebhookEnvelopeHead: {
            /** @description Id of the delivery: one event to one endpoint. */
            deliveryId: string;
            /** @description True when somebody sent the event to test the endpoint. */
            test: boolean;
            id: string;
            /**
             * Format: date-time
             * @description When the event was recorded.
             */
            timestamp: string;
            /** @description Changes when a field changes its meaning. */
            apiVersion: string;
            /** @description Null when the event concerns no account. */
            accountId: string | null;
            /** @enum {string|null} */
            provider: "gmail" | "microsoft" | "imap" | null;
            /** @description Number of the event within its account, without gaps. */
            sequence: number | null;
            /** @description The object that changed: a message, an account, a booking. */
            objectId: string | null;
            /** @description Number of changes of that object; the highest is the latest. */
            version: number | null;
        };
        WebhookRecovery: {
            /** @description RFC 3339. Recovers events recorded at or after this time. */
            since: string;
            /** @description RFC 3339. Recovers events recorded before this time. Default now. */
            until?: string;
        };
        WebhookTestData: {
            endpointId: string;
            /** @description Human-readable. */
            message: string;
        };
        /** @description A test of an endpoint. Sent only to that endpoint, regardless of its subscriptions. */
        WebhookTestEvent: {
            /** @constant */
            type: "webhook.test";
            data: components["schemas"]["WebhookTestData"];
        } & (components["schemas"]["EventHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "webhook.test";
        });
        /** @description A test of an endpoint. Sent only to that endpoint, regardless of its subscriptions. */
        WebhookTestWebhook: {
            /** @constant */
            type: "webhook.test";
            data: components["schemas"]["WebhookTestData"];
        } & (components["schemas"]["WebhookEnvelopeHead"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "webhook.test";
        });
    };
    responses: never;
    parameters: {
        /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
        IdempotencyKey: string;
        /** @description Id of the event: the same for every attempt, retry and replay. */
        "webhook-id": string;
        /** @description Time of this attempt in seconds since 1970. Reject requests older than five minutes. */
        "webhook-timestamp": string;
        /** @description Standard Webhooks v1: "v1," and the base64 HMAC-SHA256 of "id.timestamp.body" with the secret. For 24 hours after a rotation two signatures, separated by a space. Absent for an endpoint without a secret. */
        "webhook-signature": string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Account = components['schemas']['Account'];
export type AccountAuthErrorEvent = components['schemas']['AccountAuthErrorEvent'];
export type AccountAuthErrorWebhook = components['schemas']['AccountAuthErrorWebhook'];
export type AccountConnectedEvent = components['schemas']['AccountConnectedEvent'];
export type AccountConnectedWebhook = components['schemas']['AccountConnectedWebhook'];
export type AccountDeletedData = components['schemas']['AccountDeletedData'];
export type AccountDeletedEvent = components['schemas']['AccountDeletedEvent'];
export type AccountDeletedWebhook = components['schemas']['AccountDeletedWebhook'];
export type AccountEventData = components['schemas']['AccountEventData'];
export type AccountPausedEvent = components['schemas']['AccountPausedEvent'];
export type AccountPausedWebhook = components['schemas']['AccountPausedWebhook'];
export type AccountRecoveredEvent = components['schemas']['AccountRecoveredEvent'];
export type AccountRecoveredWebhook = components['schemas']['AccountRecoveredWebhook'];
export type AccountResumedEvent = components['schemas']['AccountResumedEvent'];
export type AccountResumedWebhook = components['schemas']['AccountResumedWebhook'];
export type AccountSyncStalledEvent = components['schemas']['AccountSyncStalledEvent'];
export type AccountSyncStalledWebhook = components['schemas']['AccountSyncStalledWebhook'];
export type AccountUpdatedEvent = components['schemas']['AccountUpdatedEvent'];
export type AccountUpdatedWebhook = components['schemas']['AccountUpdatedWebhook'];
export type Address = components['schemas']['Address'];
export type AddressBook = components['schemas']['AddressBook'];
export type ApiKey = components['schemas']['ApiKey'];
export type Attachment = components['schemas']['Attachment'];
export type AttachmentInput = components['schemas']['AttachmentInput'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuthSession = components['schemas']['AuthSession'];
export type AuthSessionStatus = components['schemas']['AuthSessionStatus'];
export type Availability = components['schemas']['Availability'];
export type AvailabilityOverride = components['schemas']['AvailabilityOverride'];
export type Backfill = components['schemas']['Backfill'];
export type BackfillConfig = components['schemas']['BackfillConfig'];
export type BackfillConfigUpdate = components['schemas']['BackfillConfigUpdate'];
export type BatchError = components['schemas']['BatchError'];
export type BookedSlot = components['schemas']['BookedSlot'];
export type Booking = components['schemas']['Booking'];
export type BookingCalendar = components['schemas']['BookingCalendar'];
export type BookingCancelledData = components['schemas']['BookingCancelledData'];
export type BookingCancelledEvent = components['schemas']['BookingCancelledEvent'];
export type BookingCancelledWebhook = components['schemas']['BookingCancelledWebhook'];
export type BookingChanges = components['schemas']['BookingChanges'];
export type BookingConfirmedEvent = components['schemas']['BookingConfirmedEvent'];
export type BookingConfirmedWebhook = components['schemas']['BookingConfirmedWebhook'];
export type BookingCreatedEvent = components['schemas']['BookingCreatedEvent'];
export type BookingCreatedWebhook = components['schemas']['BookingCreatedWebhook'];
export type BookingEventData = components['schemas']['BookingEventData'];
export type BookingForm = components['schemas']['BookingForm'];
export type BookingFormField = components['schemas']['BookingFormField'];
export type BookingGuest = components['schemas']['BookingGuest'];
export type BookingGuestInput = components['schemas']['BookingGuestInput'];
export type BookingLinks = components['schemas']['BookingLinks'];
export type BookingMailLimitedData = components['schemas']['BookingMailLimitedData'];
export type BookingMailLimitedEvent = components['schemas']['BookingMailLimitedEvent'];
export type BookingMailLimitedWebhook = components['schemas']['BookingMailLimitedWebhook'];
export type BookingRejectedData = components['schemas']['BookingRejectedData'];
export type BookingRejectedEvent = components['schemas']['BookingRejectedEvent'];
export type BookingRejectedWebhook = components['schemas']['BookingRejectedWebhook'];
export type BookingReminderData = components['schemas']['BookingReminderData'];
export type BookingReminderEvent = components['schemas']['BookingReminderEvent'];
export type BookingReminderWebhook = components['schemas']['BookingReminderWebhook'];
export type BookingRescheduledData = components['schemas']['BookingRescheduledData'];
export type BookingRescheduledEvent = components['schemas']['BookingRescheduledEvent'];
export type BookingRescheduledWebhook = components['schemas']['BookingRescheduledWebhook'];
export type BouncedRecipient = components['schemas']['BouncedRecipient'];
export type Calendar = components['schemas']['Calendar'];
export type CalendarAttendee = components['schemas']['CalendarAttendee'];
export type CalendarEvent = components['schemas']['CalendarEvent'];
export type CalendarEventChanges = components['schemas']['CalendarEventChanges'];
export type CalendarEventCreatedEvent = components['schemas']['CalendarEventCreatedEvent'];
export type CalendarEventCreatedWebhook = components['schemas']['CalendarEventCreatedWebhook'];
export type CalendarEventDeletedEvent = components['schemas']['CalendarEventDeletedEvent'];
export type CalendarEventDeletedWebhook = components['schemas']['CalendarEventDeletedWebhook'];
export type CalendarEventTime = components['schemas']['CalendarEventTime'];
export type CalendarEventTimeInput = components['schemas']['CalendarEventTimeInput'];
export type CalendarEventUpdatedEvent = components['schemas']['CalendarEventUpdatedEvent'];
export type CalendarEventUpdatedWebhook = components['schemas']['CalendarEventUpdatedWebhook'];
export type CallbackEndpoint = components['schemas']['CallbackEndpoint'];
export type CancelBooking = components['schemas']['CancelBooking'];
export type ChangedCalendarEvent = components['schemas']['ChangedCalendarEvent'];
export type Check = components['schemas']['Check'];
export type Connection = components['schemas']['Connection'];
export type Contact = components['schemas']['Contact'];
export type ContactCreatedEvent = components['schemas']['ContactCreatedEvent'];
export type ContactCreatedWebhook = components['schemas']['ContactCreatedWebhook'];
export type ContactDeletedEvent = components['schemas']['ContactDeletedEvent'];
export type ContactDeletedWebhook = components['schemas']['ContactDeletedWebhook'];
export type ContactGroup = components['schemas']['ContactGroup'];
export type ContactUpdatedEvent = components['schemas']['ContactUpdatedEvent'];
export type ContactUpdatedWebhook = components['schemas']['ContactUpdatedWebhook'];
export type CreateApiKey = components['schemas']['CreateApiKey'];
export type CreatedApiKey = components['schemas']['CreatedApiKey'];
export type DebouncedQueueAccount = components['schemas']['DebouncedQueueAccount'];
export type DebouncedQueueStatus = components['schemas']['DebouncedQueueStatus'];
export type DeduplicationConfig = components['schemas']['DeduplicationConfig'];
export type DeduplicationConfigUpdate = components['schemas']['DeduplicationConfigUpdate'];
export type DeduplicationTest = components['schemas']['DeduplicationTest'];
export type DetailedHealth = components['schemas']['DetailedHealth'];
export type DirectoryUser = components['schemas']['DirectoryUser'];
export type Done = components['schemas']['Done'];
export type Draft = components['schemas']['Draft'];
export type DraftChanges = components['schemas']['DraftChanges'];
export type DraftCreatedEvent = components['schemas']['DraftCreatedEvent'];
export type DraftCreatedWebhook = components['schemas']['DraftCreatedWebhook'];
export type DraftDeletedEvent = components['schemas']['DraftDeletedEvent'];
export type DraftDeletedWebhook = components['schemas']['DraftDeletedWebhook'];
export type DraftEventData = components['schemas']['DraftEventData'];
export type DraftSaveResult = components['schemas']['DraftSaveResult'];
export type DraftUpdatedEvent = components['schemas']['DraftUpdatedEvent'];
export type DraftUpdatedWebhook = components['schemas']['DraftUpdatedWebhook'];
export type DroppedLogEntries = components['schemas']['DroppedLogEntries'];
export type EncryptionKeys = components['schemas']['EncryptionKeys'];
export type Error = components['schemas']['Error'];
export type Event = components['schemas']['Event'];
export type EventHead = components['schemas']['EventHead'];
export type EventResend = components['schemas']['EventResend'];
export type Experience = components['schemas']['Experience'];
export type ExperienceAvailability = components['schemas']['ExperienceAvailability'];
export type ExperienceCreate = components['schemas']['ExperienceCreate'];
export type ExperienceUi = components['schemas']['ExperienceUi'];
export type ExperienceUpdate = components['schemas']['ExperienceUpdate'];
export type GuestBooking = components['schemas']['GuestBooking'];
export type Health = components['schemas']['Health'];
export type Hold = components['schemas']['Hold'];
export type InvitationResponse = components['schemas']['InvitationResponse'];
export type Label = components['schemas']['Label'];
export type ListedSlot = components['schemas']['ListedSlot'];
export type LogEntry = components['schemas']['LogEntry'];
export type MailLimit = components['schemas']['MailLimit'];
export type MailboxChangedData = components['schemas']['MailboxChangedData'];
export type MailboxChangedEvent = components['schemas']['MailboxChangedEvent'];
export type MailboxChangedWebhook = components['schemas']['MailboxChangedWebhook'];
export type Message = components['schemas']['Message'];
export type MessageBouncedData = components['schemas']['MessageBouncedData'];
export type MessageBouncedEvent = components['schemas']['MessageBouncedEvent'];
export type MessageBouncedWebhook = components['schemas']['MessageBouncedWebhook'];
export type MessageDeletedEvent = components['schemas']['MessageDeletedEvent'];
export type MessageDeletedWebhook = components['schemas']['MessageDeletedWebhook'];
export type MessageDetail = components['schemas']['MessageDetail'];
export type MessageDetailBody = components['schemas']['MessageDetailBody'];
export type MessageEventData = components['schemas']['MessageEventData'];
export type MessageLinkClickedData = components['schemas']['MessageLinkClickedData'];
export type MessageLinkClickedEvent = components['schemas']['MessageLinkClickedEvent'];
export type MessageLinkClickedWebhook = components['schemas']['MessageLinkClickedWebhook'];
export type MessageOpenedData = components['schemas']['MessageOpenedData'];
export type MessageOpenedEvent = components['schemas']['MessageOpenedEvent'];
export type MessageOpenedWebhook = components['schemas']['MessageOpenedWebhook'];
export type MessageReceivedEvent = components['schemas']['MessageReceivedEvent'];
export type MessageReceivedWebhook = components['schemas']['MessageReceivedWebhook'];
export type MessageRepliedData = components['schemas']['MessageRepliedData'];
export type MessageRepliedEvent = components['schemas']['MessageRepliedEvent'];
export type MessageRepliedWebhook = components['schemas']['MessageRepliedWebhook'];
export type MessageSendFailedData = components['schemas']['MessageSendFailedData'];
export type MessageSendFailedEvent = components['schemas']['MessageSendFailedEvent'];
export type MessageSendFailedWebhook = components['schemas']['MessageSendFailedWebhook'];
export type MessageSentEvent = components['schemas']['MessageSentEvent'];
export type MessageSentWebhook = components['schemas']['MessageSentWebhook'];
export type MessageUpdatedEvent = components['schemas']['MessageUpdatedEvent'];
export type MessageUpdatedWebhook = components['schemas']['MessageUpdatedWebhook'];
export type NewBooking = components['schemas']['NewBooking'];
export type NewCalendarEvent = components['schemas']['NewCalendarEvent'];
export type NewCertificateConnection = components['schemas']['NewCertificateConnection'];
export type NewConnectionAccount = components['schemas']['NewConnectionAccount'];
export type NewDraft = components['schemas']['NewDraft'];
export type NewHold = components['schemas']['NewHold'];
export type NewImapAccount = components['schemas']['NewImapAccount'];
export type NewImapOAuthAccount = components['schemas']['NewImapOAuthAccount'];
export type NewOAuthAccount = components['schemas']['NewOAuthAccount'];
export type NewSecretConnection = components['schemas']['NewSecretConnection'];
export type NewServiceAccountConnection = components['schemas']['NewServiceAccountConnection'];
export type NewSharedAccount = components['schemas']['NewSharedAccount'];
export type NewTestEvent = components['schemas']['NewTestEvent'];
export type NewThumbprintConnection = components['schemas']['NewThumbprintConnection'];
export type OpenHours = components['schemas']['OpenHours'];
export type OutboxMessage = components['schemas']['OutboxMessage'];
export type Pagination = components['schemas']['Pagination'];
export type PromoteEncryptionKey = components['schemas']['PromoteEncryptionKey'];
export type ProviderValidation = components['schemas']['ProviderValidation'];
export type PublicBookingForm = components['schemas']['PublicBookingForm'];
export type PublicExperience = components['schemas']['PublicExperience'];
export type RefusedRecipient = components['schemas']['RefusedRecipient'];
export type RescheduleBooking = components['schemas']['RescheduleBooking'];
export type Reseal = components['schemas']['Reseal'];
export type Resealed = components['schemas']['Resealed'];
export type RoutingRule = components['schemas']['RoutingRule'];
export type SchedulerJob = components['schemas']['SchedulerJob'];
export type SchedulerQueueStatus = components['schemas']['SchedulerQueueStatus'];
export type SendDraft = components['schemas']['SendDraft'];
export type SendMessage = components['schemas']['SendMessage'];
export type SendResult = components['schemas']['SendResult'];
export type Setting = components['schemas']['Setting'];
export type SlotChoice = components['schemas']['SlotChoice'];
export type SlotList = components['schemas']['SlotList'];
export type SlotSearch = components['schemas']['SlotSearch'];
export type SyncBackfillCompletedEvent = components['schemas']['SyncBackfillCompletedEvent'];
export type SyncBackfillCompletedWebhook = components['schemas']['SyncBackfillCompletedWebhook'];
export type SyncBackfillFailedEvent = components['schemas']['SyncBackfillFailedEvent'];
export type SyncBackfillFailedWebhook = components['schemas']['SyncBackfillFailedWebhook'];
export type SyncBackfillProgressEvent = components['schemas']['SyncBackfillProgressEvent'];
export type SyncBackfillProgressWebhook = components['schemas']['SyncBackfillProgressWebhook'];
export type SyncBackfillStartedEvent = components['schemas']['SyncBackfillStartedEvent'];
export type SyncBackfillStartedWebhook = components['schemas']['SyncBackfillStartedWebhook'];
export type Thread = components['schemas']['Thread'];
export type ThreadDetail = components['schemas']['ThreadDetail'];
export type Tracking = components['schemas']['Tracking'];
export type TrackingEvent = components['schemas']['TrackingEvent'];
export type TrackingResult = components['schemas']['TrackingResult'];
export type UnreadableItem = components['schemas']['UnreadableItem'];
export type UpdateConnection = components['schemas']['UpdateConnection'];
export type VerificationRequest = components['schemas']['VerificationRequest'];
export type VerificationSent = components['schemas']['VerificationSent'];
export type WebhookAttempt = components['schemas']['WebhookAttempt'];
export type WebhookCircuit = components['schemas']['WebhookCircuit'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookEndpoint = components['schemas']['WebhookEndpoint'];
export type WebhookEndpointCreate = components['schemas']['WebhookEndpointCreate'];
export type WebhookEndpointDisabledData = components['schemas']['WebhookEndpointDisabledData'];
export type WebhookEndpointDisabledEvent = components['schemas']['WebhookEndpointDisabledEvent'];
export type WebhookEndpointDisabledWebhook = components['schemas']['WebhookEndpointDisabledWebhook'];
export type WebhookEndpointUpdate = components['schemas']['WebhookEndpointUpdate'];
export type WebhookEnvelope = components['schemas']['WebhookEnvelope'];
export type WebhookEnvelopeHead = components['schemas']['WebhookEnvelopeHead'];
export type WebhookRecovery = components['schemas']['WebhookRecovery'];
export type WebhookTestData = components['schemas']['WebhookTestData'];
export type WebhookTestEvent = components['schemas']['WebhookTestEvent'];
export type WebhookTestWebhook = components['schemas']['WebhookTestWebhook'];
export type ParameterIdempotencyKey = components['parameters']['IdempotencyKey'];
export type ParameterWebhookId = components['parameters']['webhook-id'];
export type ParameterWebhookTimestamp = components['parameters']['webhook-timestamp'];
export type ParameterWebhookSignature = components['parameters']['webhook-signature'];
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        data: components["schemas"]["Health"];
                    };
                };
            };
        };
    };
    getDetailedHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        data: components["schemas"]["DetailedHealth"];
                    };
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        data: {
                            status: string;
                        };
                    };
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        data: {
                            status: string;
                        };
                    };
                };
            };
        };
    };
    createAuthSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Your own id for the user, stored with the account. */
                    customUserId?: string | null;
                    /**
                     * Format: idn-email
                     * @description A hint: the hosted page fills it in.
                     */
                    email?: string | null;
                    /**
                     * @description How long the link works.
                     * @default 30
                     */
                    expiresInMinutes?: number | null;
                    /**
                     * @description Show the provider's consent screen even if access was granted before.
                     * @default false
                     */
                    forceConsent?: boolean | null;
                    /**
                     * @description Ask for mailboxes that others share with the user, too. For microsoft. After the sign-in, the hosted page lets the user name them; `POST /accounts` with `sharedWith` connects them at any time.
                     * @default false
                     */
                    sharedMailboxes?: boolean | null;
                    /** @description Language of the hosted pages, as a BCP 47 tag such as de or pt-BR. Default: the browser's, else en. */
                    locale?: string | null;
                    /** @enum {string|null} */
                    provider?: "gmail" | "microsoft" | "imap" | null;
                    /**
                     * Format: uri
                     * @description Where the browser goes once the mailbox is connected, or when the user cancels. Required unless APP_REDIRECT_URL is set.
                     */
                    redirectUri?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthSession"];
                };
            };
        };
    };
    getAuthSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The single-use code of the session. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthSessionStatus"];
                };
            };
        };
    };
    startAuthSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The single-use code of the session. */
                code: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    provider: "gmail" | "microsoft" | "imap";
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /**
                     * Format: idn-email
                     * @description Login hint for the provider.
                     */
                    email?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        /** @enum {string} */
                        provider: "gmail" | "microsoft" | "imap";
                        /**
                         * Format: uri
                         * @description Open this URL in the end user's browser. For imap it is the hosted form.
                         */
                        authorizationUrl: string;
                        /** @description The state in authorizationUrl. */
                        state: string;
                        /** Format: date-time */
                        expiresAt: string;
                    };
                };
            };
        };
    };
    openHostedPage: {
        parameters: {
            query: {
                /** @description The single-use code of the session. */
                session: string;
                /** @description Returned in the redirect. When absent, the page uses its own state. */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    chooseProvider: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The single-use code of the session. */
                    session: string;
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /** @description The address whose provider to find. */
                    email?: string;
                    /** @description The chosen provider. Replaces the address. */
                    provider?: string;
                    /** @description "oauth", with provider imap: sign in where OAUTH_PROVIDERS says for the address, instead of with a password. */
                    signIn?: string;
                };
                "application/x-www-form-urlencoded": {
                    /** @description The single-use code of the session. */
                    session: string;
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /** @description The address whose provider to find. */
                    email?: string;
                    /** @description The chosen provider. Replaces the address. */
                    provider?: string;
                    /** @description "oauth", with provider imap: sign in where OAUTH_PROVIDERS says for the address, instead of with a password. */
                    signIn?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    connectImapMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The single-use code of the session. */
                    session: string;
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /**
                     * Format: idn-email
                     * @description Address of the mailbox.
                     */
                    email: string;
                    host: string;
                    username: string;
                    password: string;
                    /**
                     * @description Of the IMAP server.
                     * @default 993
                     */
                    port?: string | number;
                    /** @description True: TLS from the first byte; false: STARTTLS. When absent: true, except on port 143. */
                    secure?: string | boolean;
                    /**
                     * @description True: do not verify the certificate.
                     * @default false
                     */
                    allowSelfSigned?: string | boolean;
                    /**
                     * @description Folder to sync.
                     * @default INBOX
                     */
                    mailbox?: string;
                    /** @description SMTP server. When absent, it is detected. */
                    smtpHost?: string;
                    /** @description Usually 465 or 587. */
                    smtpPort?: string | number;
                    /** @description True: TLS from the first byte; false: STARTTLS. */
                    smtpSecure?: string | boolean;
                    /** @description Default: username. */
                    smtpUsername?: string;
                    /** @description Default: password. */
                    smtpPassword?: string;
                    /** @description URL of the calendar server. */
                    caldavUrl?: string;
                    /** @description Default: username. */
                    caldavUsername?: string;
                    /** @description Default: password. */
                    caldavPassword?: string;
                    /** @description "folders": list the folders and show the form again. */
                    intent?: string;
                };
                "application/x-www-form-urlencoded": {
                    /** @description The single-use code of the session. */
                    session: string;
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /**
                     * Format: idn-email
                     * @description Address of the mailbox.
                     */
                    email: string;
                    host: string;
                    username: string;
                    password: string;
                    /**
                     * @description Of the IMAP server.
                     * @default 993
                     */
                    port?: string | number;
                    /** @description True: TLS from the first byte; false: STARTTLS. When absent: true, except on port 143. */
                    secure?: string | boolean;
                    /**
                     * @description True: do not verify the certificate.
                     * @default false
                     */
                    allowSelfSigned?: string | boolean;
                    /**
                     * @description Folder to sync.
                     * @default INBOX
                     */
                    mailbox?: string;
                    /** @description SMTP server. When absent, it is detected. */
                    smtpHost?: string;
                    /** @description Usually 465 or 587. */
                    smtpPort?: string | number;
                    /** @description True: TLS from the first byte; false: STARTTLS. */
                    smtpSecure?: string | boolean;
                    /** @description Default: username. */
                    smtpUsername?: string;
                    /** @description Default: password. */
                    smtpPassword?: string;
                    /** @description URL of the calendar server. */
                    caldavUrl?: string;
                    /** @description Default: username. */
                    caldavUsername?: string;
                    /** @description Default: password. */
                    caldavPassword?: string;
                    /** @description "folders": list the folders and show the form again. */
                    intent?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    listImapFolders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The single-use code of the session. */
                    session: string;
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /** @description Not required to list folders. */
                    email?: string;
                    host: string;
                    username: string;
                    password: string;
                    /**
                     * @description Of the IMAP server.
                     * @default 993
                     */
                    port?: string | number;
                    /** @description True: TLS from the first byte; false: STARTTLS. When absent: true, except on port 143. */
                    secure?: string | boolean;
                    /**
                     * @description True: do not verify the certificate.
                     * @default false
                     */
                    allowSelfSigned?: string | boolean;
                };
                "application/x-www-form-urlencoded": {
                    /** @description The single-use code of the session. */
                    session: string;
                    /** @description Opaque value. Send the same one in every call of the session. */
                    state: string;
                    /** @description Not required to list folders. */
                    email?: string;
                    host: string;
                    username: string;
                    password: string;
                    /**
                     * @description Of the IMAP server.
                     * @default 993
                     */
                    port?: string | number;
                    /** @description True: TLS from the first byte; false: STARTTLS. When absent: true, except on port 143. */
                    secure?: string | boolean;
                    /**
                     * @description True: do not verify the certificate.
                     * @default false
                     */
                    allowSelfSigned?: string | boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        folders: {
                            path: string;
                            name: string;
                            delimiter: string | null;
                            specialUse: string | null;
                        }[];
                    };
                };
            };
        };
    };
    completeProviderSignIn: {
        parameters: {
            query?: {
                /** @description The state that the service sent to the provider. Valid once. */
                state?: string;
                /** @description The authorization code. Absent after an error. */
                code?: string;
                /** @description Such as access_denied, when the user refused. */
                error?: string;
            };
            header?: never;
            path: {
                /** @description gmail, microsoft, or a name in OAUTH_PROVIDERS. */
                providerName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirects to the redirect URI of the session. With `sharedMailboxes`, the page that asks for shared mailboxes comes first, with status 200. A failure is an error page with status 400, or 403 at the cap of the licence. */
            302: {
                headers: {
                    location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listConnections: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        connections: components["schemas"]["Connection"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createConnection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecretConnection"] | components["schemas"]["NewCertificateConnection"] | components["schemas"]["NewThumbprintConnection"] | components["schemas"]["NewServiceAccountConnection"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
        };
    };
    getConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
        };
    };
    deleteConnection: {
        parameters: {
            query?: {
                /** @description True: delete the accounts of the connection, too, with all their data. */
                force?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateConnection"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
        };
    };
    listConnectionUsers: {
        parameters: {
            query?: {
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description The beginning of a name or an address. */
                q?: string;
            };
            header?: never;
            path: {
                /** @description The id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        users: components["schemas"]["DirectoryUser"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description A part of the address or of the customUserId, or the id. */
                q?: string;
                /** @description Only accounts in this state. */
                status?: "connecting" | "syncing" | "connected" | "auth_error" | "error" | "paused";
                /** @description Only accounts of this provider. */
                provider?: "gmail" | "microsoft" | "imap";
                /** @description Only accounts of this connection. */
                connectionId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        accounts: components["schemas"]["Account"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewImapAccount"] | components["schemas"]["NewImapOAuthAccount"] | components["schemas"]["NewOAuthAccount"] | components["schemas"]["NewConnectionAccount"] | components["schemas"]["NewSharedAccount"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id, or the customUserId of exactly one account. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id, or the customUserId of exactly one account. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id, or the customUserId of exactly one account. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    paused?: boolean;
                    /** @description Identifies the user in your application. The same mailbox with another value is another account. */
                    customUserId?: string | null;
                    watch?: boolean;
                    /** @description imap: the folders to sync besides the main one, by the `id` or the `name` of their labels. Null: the default. */
                    folders?: string[] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    pauseAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id, or the customUserId of exactly one account. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    resumeAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id, or the customUserId of exactly one account. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    syncAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id, or the customUserId of exactly one account. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    receiveMicrosoftNotifications: {
        parameters: {
            query?: {
                /** @description Sent when a subscription is created. Returned unchanged as plain text. */
                validationToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    value: {
                        subscriptionId: string;
                        clientState?: string | null;
                        lifecycleEvent?: string;
                    }[];
                };
                "text/plain": string;
            };
        };
        responses: {
            /** @description The validation token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Accepted, also for unknown subscriptions. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveMicrosoftLifecycleNotifications: {
        parameters: {
            query?: {
                /** @description Sent when a subscription is created. Returned unchanged as plain text. */
                validationToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    value: {
                        subscriptionId: string;
                        clientState?: string | null;
                        lifecycleEvent?: string;
                    }[];
                };
                "text/plain": string;
            };
        };
        responses: {
            /** @description The validation token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Accepted, also for unknown subscriptions. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only messages with this label: its id, or the provider's. */
                labelId?: string;
                /** @description imap only: the folder, by path or id. A folder that is not synced is read live, in the server's order. */
                mailbox?: string;
                /** @description Only messages with all these words in their addresses, subject, attachment names or the first 4 KB of text. Case and accents do not matter, and the last word may continue. Messages that are older than the stored ones are searched at the provider, in its way: see `pagination.source`. */
                q?: string;
                /** @description Only messages with these words in name or address of the sender. */
                from?: string;
                /** @description Only messages with these words in names or addresses of the recipients, cc and bcc included. */
                to?: string;
                /** @description Only messages with these words in the subject. */
                subject?: string;
                /** @description Only messages received at this time (RFC 3339) or later. */
                after?: string;
                /** @description Only messages received before this time (RFC 3339). */
                before?: string;
                /** @description True: only unread messages; false: only read ones. */
                unread?: boolean;
                /** @description True: only messages with attachments; false: only those without. */
                hasAttachments?: boolean;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        messages: components["schemas"]["Message"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getMessage: {
        parameters: {
            query?: {
                /** @description Make `body.html` safe to show in a page: without scripts, forms, frames, embedded styles and everything else that runs or submits. It is one element that contains the message: nothing inside is painted or receives clicks outside of its box, and it takes its width from the element around it. Put it into a block element; see docs/security.md. Links open in a new tab; images stay, `cid:` ones with their addresses, which name the `contentId` of an attachment. */
                sanitize?: boolean;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageDetail"];
                };
            };
        };
    };
    deleteMessage: {
        parameters: {
            query?: {
                /** @description True: deletes the message for good, wherever it is. */
                permanent?: boolean;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    unread?: boolean;
                    starred?: boolean;
                    /** @description All labels that the message shall have, by our id or the provider's. */
                    labelIds?: string[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    downloadMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests one range of bytes: `bytes=0-499`, `bytes=500-` or `bytes=-500`. The service ignores any other form. */
                range?: string;
                /** @description Sends the range only if this is the current `ETag`, else all bytes. */
                "if-range"?: string;
                /** @description Sends nothing (304) if this is the current `ETag`. */
                "if-none-match"?: string;
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "content-disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    "content-disposition"?: string;
                    "content-range"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": unknown;
                };
            };
            /** @description The content is unchanged. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    downloadAttachment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests one range of bytes: `bytes=0-499`, `bytes=500-` or `bytes=-500`. The service ignores any other form. */
                range?: string;
                /** @description Sends the range only if this is the current `ETag`, else all bytes. */
                "if-range"?: string;
                /** @description Sends nothing (304) if this is the current `ETag`. */
                "if-none-match"?: string;
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the message. */
                messageId: string;
                /** @description The id in the attachments of the message. */
                attachmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "content-disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    "content-disposition"?: string;
                    "content-range"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The content is unchanged. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ids: string[];
                    set: {
                        unread?: boolean;
                        starred?: boolean;
                        /** @description Labels to add, by our id or the provider's. */
                        addLabelIds?: string[];
                        /** @description Labels to remove. */
                        removeLabelIds?: string[];
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        results: {
                            id: string;
                            success: boolean;
                            error?: components["schemas"]["BatchError"];
                        }[];
                    };
                };
            };
        };
    };
    sendMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessage"];
                "multipart/form-data": {
                    message: components["schemas"]["SendMessage"];
                } & {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendResult"];
                };
            };
        };
    };
    listOutboxMessages: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only messages of this account. */
                accountId?: string;
                /** @description Only messages in this state. */
                status?: "scheduled" | "queued" | "sending" | "sent" | "failed" | "uncertain" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        messages: components["schemas"]["OutboxMessage"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getOutboxMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `outboxId` of the response that accepted the message. */
                outboxId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutboxMessage"];
                };
            };
        };
    };
    cancelOutboxMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `outboxId` of the response that accepted the message. */
                outboxId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    resolveOutboxMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description `outboxId` of the response that accepted the message. */
                outboxId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description sent: it was sent. retry: send it again, although the first one may have arrived. discard: give it up.
                     * @enum {string}
                     */
                    as: "sent" | "retry" | "discard";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutboxMessage"];
                };
            };
        };
    };
    listThreads: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only threads with a message that has this label: its id, or the provider's. */
                labelId?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        threads: components["schemas"]["Thread"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getThread: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadDetail"];
                };
            };
        };
    };
    getMessageTracking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the tracking, or of the sent message. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tracking"];
                };
            };
        };
    };
    listDrafts: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        drafts: components["schemas"]["Draft"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    saveDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDraft"];
                "multipart/form-data": {
                    message: components["schemas"]["NewDraft"];
                } & {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftSaveResult"];
                };
            };
        };
    };
    createDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description An account id, or its customUserId. */
                    accountId: string;
                    /** @description The sender, as for `POST /accounts/{accountId}/messages/send`: the account's address, or another one that it may send from. */
                    from?: string;
                    /** @description The recipients. */
                    to: string[];
                    /** @description Copies. */
                    cc?: string[];
                    /** @description Copies that other recipients do not see. */
                    bcc?: string[];
                    subject: string;
                    /** @description Plain text, or HTML with `isHtml`. */
                    body: string;
                    /**
                     * @description True when the body is HTML.
                     * @default false
                     */
                    isHtml?: boolean;
                    /** @description At most 25 MB together. */
                    attachments?: components["schemas"]["AttachmentInput"][];
                };
                "multipart/form-data": {
                    message: {
                        /** @description An account id, or its customUserId. */
                        accountId: string;
                        /** @description The sender, as for `POST /accounts/{accountId}/messages/send`: the account's address, or another one that it may send from. */
                        from?: string;
                        /** @description The recipients. */
                        to: string[];
                        /** @description Copies. */
                        cc?: string[];
                        /** @description Copies that other recipients do not see. */
                        bcc?: string[];
                        subject: string;
                        /** @description Plain text, or HTML with `isHtml`. */
                        body: string;
                        /**
                         * @description True when the body is HTML.
                         * @default false
                         */
                        isHtml?: boolean;
                        /** @description At most 25 MB together. */
                        attachments?: components["schemas"]["AttachmentInput"][];
                    };
                } & {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
        };
    };
    getDraft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the draft. */
                draftId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
        };
    };
    updateDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `version` of the draft that the request is for, in quotes or not. */
                "if-match"?: string;
            };
            path: {
                /** @description The id of the draft. */
                draftId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DraftChanges"];
                "multipart/form-data": {
                    message: components["schemas"]["DraftChanges"];
                } & {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
        };
    };
    deleteDraft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the draft. */
                draftId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    sendDraft: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `version` of the draft that the request is for, in quotes or not. */
                "if-match"?: string;
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the draft. */
                draftId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SendDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendResult"];
                };
            };
        };
    };
    listLabels: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description True: also the labels that the provider manages, such as INBOX and Sent. */
                includeSystem?: boolean;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        labels: components["schemas"]["Label"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createLabel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The full name: `Work/Clients`. Missing parents are created. For imap the path, with the delimiter of the mail server. */
                    name: string;
                    /** @description Kept by this service when it differs from the last segment of the name. */
                    displayName: string;
                    /** @description Any text; responses return it as it was given. Gmail shows the nearest colour of its palette for hexadecimal colours (`#16a765`, `#f00`) and names of CSS (`tomato`). Everything else is kept by this service, as every colour is for imap and microsoft, which have none. */
                    color?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        message: string;
                        label: components["schemas"]["Label"];
                    };
                };
            };
        };
    };
    deleteLabel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Its id, or the provider's. */
                labelId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateLabel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Its id, or the provider's. */
                labelId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The full name: `Work/Clients`. Missing parents are created. For imap the path, with the delimiter of the mail server. */
                    name?: string;
                    /** @description Kept by this service when it differs from the last segment of the name. */
                    displayName?: string;
                    /** @description Any text; responses return it as it was given. Gmail shows the nearest colour of its palette for hexadecimal colours (`#16a765`, `#f00`) and names of CSS (`tomato`). Everything else is kept by this service, as every colour is for imap and microsoft, which have none. */
                    color?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Label"];
                };
            };
        };
    };
    syncLabels: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    clearLabelCache: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    getDebouncedQueueStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DebouncedQueueStatus"];
                };
            };
        };
    };
    getDebouncedQueueAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DebouncedQueueAccount"];
                };
            };
        };
    };
    clearDebouncedQueue: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        cleared: number;
                    };
                };
            };
        };
    };
    listHistoricalSyncs: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only those in this state. */
                status?: "running" | "paused" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        backfills: components["schemas"]["Backfill"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getHistoricalSyncConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillConfig"];
                };
            };
        };
    };
    updateHistoricalSyncConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackfillConfigUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillConfig"];
                };
            };
        };
    };
    getHistoricalSync: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    startHistoricalSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    pauseHistoricalSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    resumeHistoricalSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    restartHistoricalSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    cancelHistoricalSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    receiveGoogleCalendarNotifications: {
        parameters: {
            query?: never;
            header?: {
                /** @description The channel. */
                "x-goog-channel-id"?: string;
                /** @description What the channel watches. */
                "x-goog-resource-id"?: string;
                /** @description The secret of the channel. */
                "x-goog-channel-token"?: string;
                /** @description `sync` when the channel was opened, otherwise a change. */
                "x-goog-resource-state"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted, also for unknown channels. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listCalendars: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description True: as the provider lists them now. */
                refresh?: boolean;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        calendars: components["schemas"]["Calendar"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    listCalendarEvents: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only events that end after this time. RFC 3339 with an offset. */
                timeMin?: string;
                /** @description Only events that start before this time. RFC 3339 with an offset. */
                timeMax?: string;
                /** @description True: each instance of a series, in place of the series. */
                singleEvents?: boolean;
                /** @description startTime only with singleEvents=true. */
                orderBy?: "startTime" | "updated";
                /** @description Words in summary, description, location and attendees. */
                q?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Our id, the provider's id, or `primary`. */
                calendarId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: components["schemas"]["CalendarEvent"][];
                        pagination: components["schemas"]["Pagination"];
                        /**
                         * @description stored: from the last sync, apart from what begins outside the stored time.
                         * @enum {string}
                         */
                        source: "stored" | "provider";
                        /**
                         * Format: date-time
                         * @description When the list was last known to be current, at most five minutes too early.
                         */
                        syncedAt: string;
                    };
                };
            };
        };
    };
    createCalendarEvent: {
        parameters: {
            query?: {
                /** @description Whether the other participants receive an email. microsoft always sends it to the attendees of a meeting, and for imap the calendar server decides: with attendees, `none` is refused there. */
                sendUpdates?: "all" | "none";
            };
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Our id, the provider's id, or `primary`. */
                calendarId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCalendarEvent"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedCalendarEvent"];
                };
            };
        };
    };
    findAvailability: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Email addresses, ids or customUserIds of accounts, and ids of calendars. Omitted: the account itself. Accounts are answered from their primary calendar and the selected calendars that they own; addresses without an account are looked up at the provider of this account. */
                    participants?: string[];
                    /** @description Start of the first slot. RFC 3339 with an offset. */
                    startTime: string;
                    /** @description Where the last slot ends at the latest, at most 62 days after startTime. RFC 3339 with an offset. */
                    endTime: string;
                    /**
                     * @description Length of a slot. Rounded to whole seconds. Slots times participants may be at most 10000.
                     * @default 30
                     */
                    intervalMinutes?: number;
                    /** @description IANA name; returned unchanged. Omitted: that of the primary calendar. */
                    timeZone?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Availability"];
                };
            };
        };
    };
    getCalendarEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Our id, the provider's id, or `primary`. */
                calendarId: string;
                /** @description Our id or the provider's, of an event, a series or one instance of a series. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalendarEvent"];
                };
            };
        };
    };
    deleteCalendarEvent: {
        parameters: {
            query?: {
                /** @description What of a series changes: this instance, it and all that follow, or the whole series. Default: what the id names. */
                scope?: "this" | "following" | "all";
                /** @description Whether the other participants receive an email. microsoft always sends it to the attendees of a meeting, and for imap the calendar server decides: with attendees, `none` is refused there. */
                sendUpdates?: "all" | "none";
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Our id, the provider's id, or `primary`. */
                calendarId: string;
                /** @description Our id or the provider's, of an event, a series or one instance of a series. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateCalendarEvent: {
        parameters: {
            query?: {
                /** @description What of a series changes: this instance, it and all that follow, or the whole series. Default: what the id names. */
                scope?: "this" | "following" | "all";
                /** @description Whether the other participants receive an email. microsoft always sends it to the attendees of a meeting, and for imap the calendar server decides: with attendees, `none` is refused there. */
                sendUpdates?: "all" | "none";
            };
            header?: {
                /** @description The `version` of the event that the request is for, in quotes or not. */
                "if-match"?: string;
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Our id, the provider's id, or `primary`. */
                calendarId: string;
                /** @description Our id or the provider's, of an event, a series or one instance of a series. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CalendarEventChanges"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedCalendarEvent"];
                };
            };
        };
    };
    respondToCalendarEvent: {
        parameters: {
            query?: {
                /** @description What of a series changes: this instance, it and all that follow, or the whole series. Default: what the id names. */
                scope?: "this" | "following" | "all";
                /** @description Whether the other participants receive an email. microsoft always sends it to the attendees of a meeting, and for imap the calendar server decides: with attendees, `none` is refused there. */
                sendUpdates?: "all" | "none";
            };
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description Our id, the provider's id, or `primary`. */
                calendarId: string;
                /** @description Our id or the provider's, of an event, a series or one instance of a series. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationResponse"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalendarEvent"];
                };
            };
        };
    };
    listContacts: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Words in names, company, position, addresses, numbers and categories, or in a part of them. */
                q?: string;
                /** @description Only contacts with this address, in any case. */
                email?: string;
                /** @description Only contacts with this number, however its digits are separated. */
                phone?: string;
                /** @description Only members of the group with this id. */
                group?: string;
                /** @description inbox: people with whom the account has exchanged messages, without programs and lists. They are learnt some minutes after a message arrives. */
                source?: "address_book" | "inbox";
                /** @description Only contacts of this address book: our id or the provider's. */
                addressBookId?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        contacts: components["schemas"]["Contact"][];
                        pagination: components["schemas"]["Pagination"];
                        /**
                         * Format: date-time
                         * @description When the contacts were last known to be current. Null until the first sync is complete, and for people of messages.
                         */
                        syncedAt: string | null;
                    };
                };
            };
        };
    };
    createContact: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Our id or the provider's. Default: the default address book. */
                    addressBookId?: string;
                    /** @description Default: made of the names. */
                    displayName?: string | null;
                    prefix?: string | null;
                    givenName?: string | null;
                    middleName?: string | null;
                    surname?: string | null;
                    suffix?: string | null;
                    nickname?: string | null;
                    /** @description `1985-04-12`, or `--04-12` without the year. */
                    birthday?: string | null;
                    companyName?: string | null;
                    department?: string | null;
                    jobTitle?: string | null;
                    managerName?: string | null;
                    officeLocation?: string | null;
                    /** @description Plain text. */
                    notes?: string | null;
                    emails?: {
                        email: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    phoneNumbers?: {
                        number: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    physicalAddresses?: {
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                        streetAddress?: string;
                        city?: string;
                        postalCode?: string;
                        state?: string;
                        country?: string;
                    }[];
                    webPages?: {
                        url: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    imAddresses?: {
                        imAddress: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    /** @description All groups of the contact, each by its id. A `name` in place of the id adds a category, where contacts name their groups. */
                    groups?: {
                        id?: string;
                        name?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    getContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the contact. */
                contactId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    deleteContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the contact. */
                contactId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateContact: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `version` of the contact that the request is for, in quotes or not. */
                "if-match"?: string;
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the contact. */
                contactId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Default: made of the names. */
                    displayName?: string | null;
                    prefix?: string | null;
                    givenName?: string | null;
                    middleName?: string | null;
                    surname?: string | null;
                    suffix?: string | null;
                    nickname?: string | null;
                    /** @description `1985-04-12`, or `--04-12` without the year. */
                    birthday?: string | null;
                    companyName?: string | null;
                    department?: string | null;
                    jobTitle?: string | null;
                    managerName?: string | null;
                    officeLocation?: string | null;
                    /** @description Plain text. */
                    notes?: string | null;
                    emails?: {
                        email: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    phoneNumbers?: {
                        number: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    physicalAddresses?: {
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                        streetAddress?: string;
                        city?: string;
                        postalCode?: string;
                        state?: string;
                        country?: string;
                    }[];
                    webPages?: {
                        url: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    imAddresses?: {
                        imAddress: string;
                        /** @description `work`, `home`, `mobile`, `other` or another word. */
                        type?: string;
                    }[];
                    /** @description All groups of the contact, each by its id. A `name` in place of the id adds a category, where contacts name their groups. */
                    groups?: {
                        id?: string;
                        name?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    listContactGroups: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        groups: components["schemas"]["ContactGroup"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createContactGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Another group of the account must not have it, in any case. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactGroup"];
                };
            };
        };
    };
    listAddressBooks: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        addressBooks: components["schemas"]["AddressBook"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getContactPhoto: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description The id of the contact. */
                contactId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": unknown;
                    "image/png": unknown;
                    "image/gif": unknown;
                    "image/webp": unknown;
                };
            };
        };
    };
    deleteContactGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description From the list of groups. */
                groupId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    updateContactGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An account id, or its customUserId. */
                accountId: string;
                /** @description From the list of groups. */
                groupId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Another group of the account must not have it, in any case. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactGroup"];
                };
            };
        };
    };
    listExperiences: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        experiences: components["schemas"]["Experience"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createExperience: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExperienceCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experience"];
                };
            };
        };
    };
    getExperience: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the experience. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experience"] | components["schemas"]["PublicExperience"];
                };
            };
        };
    };
    updateExperience: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the experience. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExperienceUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experience"];
                };
            };
        };
    };
    listSlots: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the experience. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SlotSearch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlotList"];
                };
            };
        };
    };
    sendVerificationCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the experience. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerificationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationSent"];
                };
            };
        };
    };
    createHold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the experience. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewHold"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
        };
    };
    createBooking: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request gets the booking that the first one made. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The slug of the experience. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBooking"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["GuestBooking"];
                };
            };
        };
    };
    listBookings: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only bookings in this state. */
                status?: "pending" | "confirmed" | "rejected" | "cancelled" | "rescheduled";
                /** @description Only bookings of this experience. */
                experienceSlug?: string;
                /** @description The id of an account that is a host. */
                accountId?: string;
                /** @description Only bookings of the guest with this address. */
                guestEmail?: string;
                /** @description Bookings that start at this time or later (RFC 3339). */
                from?: string;
                /** @description Bookings that start before this time (RFC 3339). */
                to?: string;
                /** @description By start. */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        bookings: components["schemas"]["Booking"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the booking. */
                bookingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"];
                };
            };
        };
    };
    updateBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the booking. */
                bookingId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BookingChanges"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"];
                };
            };
        };
    };
    cancelBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the booking. */
                bookingId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelBooking"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["GuestBooking"];
                };
            };
        };
    };
    rescheduleBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the booking. */
                bookingId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RescheduleBooking"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"] | components["schemas"]["GuestBooking"];
                };
            };
        };
    };
    getSchedulerQueueStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulerQueueStatus"];
                };
            };
        };
    };
    listSchedulerJobs: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only jobs in this state. */
                status?: "waiting" | "active" | "completed" | "failed" | "cancelled";
                /** @description Only jobs of this type. */
                type?: "callback" | "calendar" | "message" | "reminder" | "decision";
                /** @description Only jobs of this booking. */
                bookingId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        jobs: components["schemas"]["SchedulerJob"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    retrySchedulerJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the job. */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulerJob"];
                };
            };
        };
    };
    cancelSchedulerJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the job. */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        endpoints: components["schemas"]["WebhookEndpoint"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only deliveries to this endpoint. */
                endpointId?: string;
                /** @description Only deliveries in this state. */
                status?: "pending" | "retrying" | "success" | "failed" | "deduplicated" | "cancelled";
                /** @description Only deliveries of this event. */
                eventId?: string;
                /** @description Only deliveries of events of this type. */
                eventType?: string;
                /** @description Only deliveries of events of this account. */
                accountId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveries: components["schemas"]["WebhookDelivery"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the delivery. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the delivery. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    resendEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the event. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventResend"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The delivery, which is queued. A repeated event keeps its delivery. */
                        deliveryId: string;
                    };
                };
            };
        };
    };
    recoverWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the endpoint. */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookRecovery"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        /** @description Number of deliveries queued by this call. */
                        recovered: number;
                        /** @description False when the range was too large for one call. */
                        complete: boolean;
                        /**
                         * Format: date-time
                         * @description Pass this as since of the next call when this one is not complete.
                         */
                        continueSince?: string;
                    };
                };
            };
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the endpoint. */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    sendTestMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    accountId: string;
                    messageId: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description True when the message was sent. Each delivery shows its own outcome. */
                        success: boolean;
                        deliveries: components["schemas"]["WebhookDelivery"][];
                    };
                };
            };
        };
    };
    sendTestEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTestEvent"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description True when the event was sent. Each delivery shows its own outcome. */
                        success: boolean;
                        eventId: string;
                        deliveries: components["schemas"]["WebhookDelivery"][];
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Only events of this type. */
                type?: string;
                /** @description Only events of this account. */
                accountId?: string;
                /** @description A position: events after it. Or a time (RFC 3339): events recorded at that time or later. Default: the oldest stored event. */
                since?: string;
                /** @description By position. Default: asc with since, desc (newest first) without. */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: components["schemas"]["Event"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the event. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Types, or prefixes such as `message.*`, separated by commas. Default: all types. */
                type?: string;
                /** @description Only events of this account. */
                accountId?: string;
                /** @description A position: events after it. Or a time (RFC 3339): events recorded at that time or later. Default: from now on. Last-Event-ID takes precedence. */
                since?: string;
            };
            header?: {
                /** @description Position of the last event received; the stream continues after it. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getDeduplicationConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeduplicationConfig"];
                };
            };
        };
    };
    updateDeduplicationConfig: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeduplicationConfigUpdate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeduplicationConfig"];
                };
            };
        };
    };
    testDeduplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeduplicationTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        /** @description Always false while deduplication is disabled. */
                        isDuplicate: boolean;
                        /** @description Hash of the key fields. */
                        key: string;
                        ttlSeconds: number;
                        config: components["schemas"]["DeduplicationConfig"];
                    };
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        apiKeys: components["schemas"]["ApiKey"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the key, not the key itself. */
                apiKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the key, not the key itself. */
                apiKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Entries of this actor: `service`, `key:<id>` or `admin:<user>`. */
                actor?: string;
                /** @description Entries of exactly this action, such as `endpoint.deleted`. */
                action?: string;
                /** @description Entries about the object with this id. */
                target?: string;
                /** @description Entries from this time on. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entries: components["schemas"]["AuditEntry"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
        };
    };
    listLogs: {
        parameters: {
            query?: {
                /** @description Page number, from 1. Ignored with a cursor. */
                page?: number;
                /** @description Items per page. A larger one than 200 means 200. */
                limit?: number;
                /**
                 * @deprecated
                 * @description Another name for limit.
                 */
                maxResults?: number;
                /** @description nextPageToken of the previous response. */
                pageToken?: string;
                /** @description nextCursor of the previous response. Use it to read long lists. */
                cursor?: string;
                /** @description Exactly this level, not "at least". */
                level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
                /** @description Records about this account. */
                accountId?: string;
                /** @description Records about this provider: gmail, microsoft, imap. */
                provider?: string;
                /** @description What the service was doing, as `feature.verb`: `sync.account`, a prefix such as `sync.*`, or `*` for everything. Without it, records of HTTP requests (`http.*`) are left out unless they are warnings or errors. */
                operation?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Replicas that did not respond in time; their records are missing. "unknown" when the list of replicas could not be read. */
                        missingInstances: string[];
                    };
                };
            };
        };
    };
    streamLogs: {
        parameters: {
            query?: {
                /** @description Exactly this level, not "at least". */
                level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
                /** @description Records about this account. */
                accountId?: string;
                /** @description Records about this provider: gmail, microsoft, imap. */
                provider?: string;
                /** @description What the service was doing, as `feature.verb`: `sync.account`, a prefix such as `sync.*`, or `*` for everything. Without it, records of HTTP requests (`http.*`) are left out unless they are warnings or errors. */
                operation?: string;
            };
            header?: {
                /** @description Continues after this record, as browsers send it when they reconnect. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
        };
    };
    listSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        settings: components["schemas"]["Setting"][];
                    };
                };
            };
        };
    };
    getInstance: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        data: {
                            instance: string;
                        };
                    };
                };
            };
        };
    };
    validateProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description gmail, microsoft, imap, or a name in OAUTH_PROVIDERS. */
                providerName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderValidation"];
                };
            };
        };
    };
    listEncryptionKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EncryptionKeys"];
                };
            };
        };
    };
    createEncryptionKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        keyId: string;
                    };
                };
            };
        };
    };
    promoteEncryptionKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PromoteEncryptionKey"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        success: boolean;
                        keyId: string;
                    };
                };
            };
        };
    };
    resealSecrets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true". */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Reseal"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Resealed"];
                };
            };
        };
    };
    getOpenApiDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
}
