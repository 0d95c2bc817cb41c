import * as React from "react";
import { OTPInput, OTPInputContext } from "input-otp";
import { cn } from "@/lib/utils";

export const InputOTP = (props: React.ComponentPropsWithoutRef<typeof OTPInput>) => (
  <OTPInput containerClassName="flex items-center gap-2" {...props} />
);

export const InputOTPGroup = (props: React.ComponentPropsWithoutRef<"div">) => (
  <div className="flex items-center" {...props} />
);

export function InputOTPSlot({ index }: { index: number }) {
  const { slots } = React.useContext(OTPInputContext);
  const { char, hasFakeCaret, isActive } = slots[index];
  return (
    <div
      className={cn(
        "relative flex size-11 items-center justify-center border-y border-r border-input text-sm first:rounded-l-md first:border-l last:rounded-r-md",
        isActive && "z-10 ring-2 ring-ring",
      )}
    >
      {char}
      {hasFakeCaret && <span className="absolute h-4 w-px animate-pulse bg-foreground" />}
    </div>
  );
}
