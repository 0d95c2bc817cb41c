package session

import "devplatform/shared/fault"

var errNotFound = fault.New(fault.CodeSessionNotFound,
	"The session does not exist, or it has ended. List your sessions to see the active ones.")
