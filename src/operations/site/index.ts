/** Pages outside the hosted flow: the landing page at `/`, and the page of an unknown address. */
export { type Site, site, siteRoutes } from './routes.ts'
