import base from './base.css'
import times from './times.css'

/** Of the first step. That of the others is loaded with them. */
export const STYLE = `${base}\n${times}`
