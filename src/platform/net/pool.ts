import request from 'undici/lib/api/api-request.js'
import UndiciPool from 'undici/lib/dispatcher/pool.js'

export { default as buildConnector } from 'undici/lib/core/connect.js'

/**
 * The connection pool of undici, with the methods that we use. Its main module adds them all, and loads fetch, WebSocket, caches and
 * mocks, too: 50 ms and 5 MB at the start.
 */
export class Pool extends UndiciPool {
  override request = request
}
