// Command project-cleanup is the Lambda function behind the stream of events: it removes what deleted projects held, and lets replaced
// contents expire.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
