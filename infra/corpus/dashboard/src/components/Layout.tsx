import { Suspense } from "react";
import { Outlet } from "react-router-dom";
import { AppSidebar } from "@/components/AppSidebar";
import { Header } from "@/components/Header";

export function Layout() {
  return (
    <div className="min-h-screen md:grid md:grid-cols-[15rem_1fr]">
      <aside className="sticky top-0 hidden h-screen border-r bg-card md:block">
        <AppSidebar />
      </aside>
      <div className="min-w-0">
        <Header />
        <main className="mx-auto max-w-6xl space-y-6 px-4 py-6 sm:px-8">
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
    </div>
  );
}
