/**
 * The licence: how many accounts may exist, from a signed key that is verified without asking anybody.
 * Without a key the plan is community and there is no cap.
 */

export { signLicenceKey } from './key.ts'
export { type Licence, licence } from './licence.ts'
