import base from './base.css'
import times from './times.css'

/** Styles of the first step. Those of the others are loaded with them. */
export const STYLE = `${base}\n${times}`
