/** The effective settings of the service, for operators: each with its value, secrets masked, and its source. */
export { type SettingView, settingsRoutes } from './routes.ts'
