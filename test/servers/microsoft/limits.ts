import type { PublishedLimit } from '../fake/limits.ts'

const TEN_SECONDS = 10_000
const TWENTY_SECONDS = 20_000
const FIVE_MINUTES = 300_000
const TEN_MINUTES = 600_000

const ofApp = () => ''
const ofMailbox = ({ user }: { user: string | null }) => user ?? ''
const isMailbox = (endpoint: string) => / \/v1\.0\/me\//.test(endpoint)
const isSubscription = (endpoint: string) => / \/v1\.0\/subscriptions/.test(endpoint)
const isWrite = (endpoint: string) => !endpoint.startsWith('GET ')
/** Resource units of requests to the directory. */
const DIRECTORY_UNITS: Record<string, number> = { 'GET /v1.0/users': 2, 'GET /v1.0/users/{id}': 1 }

/**
 * Graph's service-specific limits of one application in a tenant of 50 to 500 users
 * (https://learn.microsoft.com/graph/throttling-limits). That of four concurrent requests to a mailbox always applies.
 */
export const GRAPH_LIMITS: readonly PublishedLimit[] = [
  {
    name: 'requests of the application',
    most: 130_000,
    perMs: TEN_SECONDS,
    units: () => 1,
    key: ofApp,
  },
  {
    name: 'requests to the mailbox',
    most: 10_000,
    perMs: TEN_MINUTES,
    units: ({ endpoint }) => (isMailbox(endpoint) ? 1 : 0),
    key: ofMailbox,
  },
  {
    name: 'uploads to the mailbox',
    most: 150 * 1024 * 1024,
    perMs: FIVE_MINUTES,
    units: ({ endpoint, bytes }) => (isMailbox(endpoint) && isWrite(endpoint) ? bytes : 0),
    key: ofMailbox,
  },
  {
    name: 'resource units of the directory',
    most: 5000,
    perMs: TEN_SECONDS,
    units: ({ endpoint }) => DIRECTORY_UNITS[endpoint] ?? 0,
    key: ofApp,
  },
  {
    // The lowest that the table has named over the years. Others are 1,000 and 2,000.
    name: 'changes of subscriptions',
    most: 500,
    perMs: TWENTY_SECONDS,
    units: ({ endpoint }) => (isSubscription(endpoint) && isWrite(endpoint) ? 1 : 0),
    key: ofApp,
  },
  {
    name: 'requests for subscriptions',
    most: 5000,
    perMs: TWENTY_SECONDS,
    units: ({ endpoint }) => (isSubscription(endpoint) ? 1 : 0),
    key: ofApp,
  },
]
