/**
 * The licence: how many accounts may exist. It comes from a signed key that is verified offline. Without a key, the plan
 * is community and there is no limit.
 */
export { publicKeyText, signLicenceKey } from './key.ts'
export { type Licence, licence } from './licence.ts'
