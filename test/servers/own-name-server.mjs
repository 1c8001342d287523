// Preloaded into a service (`node --import`). Makes it resolve names at NAME_SERVER instead of the servers in /etc/resolv.conf.
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'

dns.Resolver = class extends dns.Resolver {
  constructor(options) {
    super(options)
    this.setServers([process.env.NAME_SERVER])
  }
}
syncBuiltinESMExports()
