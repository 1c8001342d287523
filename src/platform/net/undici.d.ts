declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'

  const request: Dispatcher['request']
  export default request
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
