import { createRouter, createWebHistory } from 'vue-router'
import HomeView from '@/views/HomeView.vue'
import { useProgrammeStore } from '@/stores/programme'

declare module 'vue-router' {
  interface RouteMeta {
    title?: string
  }
}

const router = createRouter({
  history: createWebHistory(import.meta.env.BASE_URL),
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
  routes: [
    { path: '/', name: 'home', component: HomeView, meta: { title: 'Today' } },
    {
      path: '/programme',
      component: () => import('@/views/ProgrammeView.vue'),
      meta: { title: 'Programme' },
      children: [
        { path: '', name: 'programme', component: () => import('@/views/ProgrammeListView.vue') },
        {
          path: ':slug',
          name: 'talk',
          component: () => import('@/views/TalkView.vue'),
          props: true,
          beforeEnter: (to) => {
            const store = useProgrammeStore()
            if (!store.bySlug(String(to.params.slug))) return { name: 'not-found', params: { path: to.path.slice(1).split('/') } }
          },
        },
      ],
    },
    {
      path: '/plan',
      name: 'plan',
      components: {
        default: () => import('@/views/PlanView.vue'),
        aside: () => import('@/components/PlanTips.vue'),
      },
      meta: { title: 'My plan' },
    },
    { path: '/schedule', redirect: { name: 'programme' } },
    { path: '/:path(.*)*', name: 'not-found', component: () => import('@/views/NotFoundView.vue') },
  ],
})

router.afterEach((to) => {
  document.title = to.meta.title ? `${to.meta.title} – Field Notes` : 'Field Notes'
})

export default router
