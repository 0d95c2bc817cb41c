import * as React from "react";
import { Drawer as V } from "vaul";
import { styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const Drawer = V.Root;
export const DrawerTrigger = V.Trigger;
export const DrawerClose = V.Close;

export const DrawerContent = ({ className, children, ...props }: React.ComponentPropsWithoutRef<typeof V.Content>) => (
  <V.Portal>
    <V.Overlay className="fixed inset-0 z-50 bg-black/60" />
    <V.Content
      className={cn("fixed inset-x-0 bottom-0 z-50 mt-24 flex h-auto flex-col rounded-t-xl border bg-background", className)}
      {...props}
    >
      <div className="mx-auto mt-3 h-1.5 w-16 rounded-full bg-muted" />
      {children}
    </V.Content>
  </V.Portal>
);

export const DrawerHeader = styled("div", "grid gap-1.5 p-4");
export const DrawerFooter = styled("div", "mt-auto flex flex-col gap-2 p-4");
export const DrawerTitle = styled(V.Title, "text-lg font-semibold tracking-tight");
export const DrawerDescription = styled(V.Description, "text-sm text-muted-foreground");
