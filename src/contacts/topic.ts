/** The bus topic of accounts whose contacts must be read again. The payload is the account's id. */
export const CONTACTS_TOPIC = 'contacts.sync'
