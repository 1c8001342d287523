/** Shows the other processes on a PostgreSQL database that this one lives, by a lock that the server releases when it dies. */
export { openPresence, type Presence, type PresenceView } from './presence.ts'
