// Loaded into a service before it starts (`node --import`): its names are asked of NAME_SERVER, as /etc/resolv.conf would have it.
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'

dns.Resolver = class extends dns.Resolver {
  constructor(options) {
    super(options)
    this.setServers([process.env.NAME_SERVER])
  }
}
syncBuiltinESMExports()
