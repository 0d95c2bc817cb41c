package attempt

import (
	"time"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

// MailLimits are the numbers of mails that clients can request in a fixed window. A mail is requested for an address as
// the client entered it, whether or not an account has the address.
type MailLimits struct {
	// Minute, Hour and Day limit the mails per address and client network, so that a client in one network cannot use up
	// the limit of the user, who is in another network.
	Minute int `env:"LIMIT_MAIL_MINUTE" envDefault:"1" min:"1"`
	Hour   int `env:"LIMIT_MAIL_HOUR" envDefault:"5" min:"1"`
	Day    int `env:"LIMIT_MAIL_DAY" envDefault:"10" min:"1"`
	// Address limits the mails per address in a day.
	Address int `env:"LIMIT_MAIL_ADDRESS" envDefault:"30" min:"1"`
	// IP limits the mails per client network in an hour.
	IP int `env:"LIMIT_MAIL_IP" envDefault:"30" min:"1"`
}

// Mail returns the writes that count a mail that a client requests for an address. They belong in the transaction that
// stores the mail. Error: AUTH_RATE_LIMITED. If several limits are reached, its headers describe the limit whose window
// ends last, because the write of this limit is first.
func (l *Limiter) Mail(address string, client httpapi.RequestInfo) []db.Write {
	const day = 24 * time.Hour
	pair, limits := Hash(address, network(client)), l.limits.Mail
	return []db.Write{
		l.counters.Write(limit.Rule{Name: "mail-address", Limit: limits.Address, Window: day}, Hash(address)),
		l.counters.Write(limit.Rule{Name: "mail-day", Limit: limits.Day, Window: day}, pair),
		l.counters.Write(limit.Rule{Name: "mail-hour", Limit: limits.Hour, Window: time.Hour}, pair),
		l.counters.Write(limit.Rule{Name: "mail-ip", Limit: limits.IP, Window: time.Hour}, Hash(network(client))),
		l.counters.Write(limit.Rule{Name: "mail-minute", Limit: limits.Minute, Window: time.Minute}, pair),
	}
}
