/**
 * The service's own secrets: given by settings, or made once and kept (as files of the data folder, or the key ring in a
 * shared database). The canary proves at the start that the key ring opens what is stored.
 */
export { keptApiKey, openSecrets, type Secrets, type SecretsDeps } from './secrets.ts'
