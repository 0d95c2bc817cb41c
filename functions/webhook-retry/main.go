// Command webhook-retry is the Lambda function that a schedule starts every minute: it brings back deliveries whose time has come, and
// those whose message was lost.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
