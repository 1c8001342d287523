/** The HTTP client for addresses that users give. Every request passes the address guard. */
export {
  type Outbound,
  OutboundError,
  type OutboundFailure,
  type OutboundRequest,
  type OutboundResponse,
} from './contract.ts'
export { type OutboundDeps, outbound } from './outbound.ts'
export { lowerCased, MASK, maskedHeaders, validHeaders, validSecret, validUrl } from './target-fields.ts'
