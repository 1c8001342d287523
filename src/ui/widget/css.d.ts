/** The build minifies style sheets and bundles them as text. */
declare module '*.css' {
  const text: string
  export default text
}
